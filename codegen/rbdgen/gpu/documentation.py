"""Makes the signatures and docstrings of functions on a GPU from those of functions on the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, Final

from rbdgen.runtime import documentation as on_host
from rbdgen.runtime.documentation import Words
from rbdgen.signature import SizedSignature

_OPTIONS: Final = """\
    out: {outputs} on the GPU to which the results are written; new by default.
    stream: the stream that does the work; by default that of the first array that has one.
"""

_BATCHES: Final = """\
Arrays are on one GPU, of this function's dtype and in C order. Leading axes are states, the same for all
arrays: {first} (1000, {shape}) gives 1000 results. A number or an array without leading axes is shared
by all states. The call returns before the GPU has done the work.
"""


def call_signature(signature: SizedSignature) -> Signature:
    """The signature of the function in Python."""
    of_host = on_host.call_signature(signature)
    inputs = [x for name, x in of_host.parameters.items() if name != "threads"]
    return Signature([*inputs, Parameter("stream", Parameter.KEYWORD_ONLY, default=None)])


def docstring(signature: SizedSignature, facts: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """The docstring of a function: arguments and results with shapes, units and meanings.

    `facts` is the entry of the function in the manifest.
    """
    return on_host.docstring(signature, facts, manifest, Words(call_signature, _OPTIONS, _BATCHES, _example))


def _example(signature: SizedSignature) -> Iterator[str]:
    """The lines of a call in Python; the library is called `lib`, and NumPy `np`."""
    given = [x for x in signature.inputs if x.default is None]
    for x in given:
        if x.kind == "configuration" and len(x.shape) == 1:
            yield f"{x.name} = lib.to_device(np.tile(lib.manifold.neutral(), (1000, 1)))"
        elif x.shape:
            yield f"{x.name} = lib.to_device(np.zeros({(1000, *x.shape)}))"
    outputs = ", ".join(y.name for y in signature.outputs)
    call = ", ".join(f"{x.name}={x.name if x.shape else 0.01}" for x in given)
    yield f"{outputs} = lib.{signature.name}({call})"
