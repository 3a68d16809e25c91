"""Makes the signature and docstring of a function for `help(library.rnea)`, `?` in IPython and editors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from inspect import Parameter, Signature
from typing import Any, Final, NamedTuple

from ..signature import OF_JOINTS, SizedArgument, SizedSignature

_SHOWN: Final = 4
"""The largest number of elements of a default that a signature shows."""

_TEN: Final = "np.array([1, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1])"
"""An inertia for examples: 1 kg whose centre of mass is the origin of its frame."""

_ANY: Final = """\
    out: {outputs} to which the results are written, of this function's dtype, in C order; new by default.
    threads: the number of threads that share the states of a batch. The results do not depend on it.
"""

_BATCHES: Final = """\
Leading axes of the inputs are states, and broadcast: {first} (1000, {shape}) gives 1000 results.
Arrays of any real dtype are accepted; those of this function's dtype in C order are not copied.

Raises:
    ArrayValueError: a shape does not fit, or results cannot be written to `out`.
    ArrayTypeError: an array is not of real numbers, or too few or too many arguments are given.
"""


class _Default:
    """Represents a default in a signature if it is too long to be shown."""

    def __repr__(self) -> str:
        return "<default>"


def told(arguments: Iterable[SizedArgument]) -> str:
    """The names, shapes and units of arguments in one line, such as `q (7,) [rad, m]`."""
    return ", ".join(f"{x.name} {x.shape}{f' [{x.unit}]' if x.unit else ''}" for x in arguments)


def table(signatures: Iterable[tuple[SizedSignature, int]]) -> str:
    """Functions with their arguments and numbers of operations as an HTML table."""
    rows = [
        f"<tr><td>{escape(x.name)}</td><td>{escape(told(x.inputs))}</td><td>{escape(told(x.outputs))}</td>"
        f"<td style='text-align:right'>{operations}</td></tr>"
        for x, operations in signatures
    ]
    head = "<tr><th>function</th><th>inputs</th><th>outputs</th><th>operations</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def call_signature(signature: SizedSignature) -> Signature:
    """The signature of the function in Python.

    Python requires that no argument without a default follows one with a default. Such inputs are shown as
    keywords, although they can also be passed by position if all inputs before them are given.
    """
    by_name = _after_defaults(signature)
    inputs = [
        Parameter(
            x.name,
            Parameter.KEYWORD_ONLY if x.name in by_name else Parameter.POSITIONAL_OR_KEYWORD,
            default=_default_of(x),
        )
        for x in signature.inputs
    ]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in (("out", None), ("threads", 1))
    ]
    return Signature([*sorted(inputs, key=lambda x: x.kind), *options])


def _after_defaults(signature: SizedSignature) -> set[str]:
    """The names of the inputs that are shown as keywords: the first one without a default that follows one
    with a default, and all inputs after it.
    """
    inputs = signature.inputs
    optional = [k for k, x in enumerate(inputs) if x.default is not None]
    needed = [k for k, x in enumerate(inputs) if x.default is None and optional and k > optional[0]]
    return {x.name for x in inputs[needed[0] :]} if needed else set()


def _default_of(argument: SizedArgument) -> Any:
    if argument.default is None:
        return Parameter.empty
    if len(argument.default) > _SHOWN:
        return _Default()
    return argument.default if argument.shape else argument.default[0]


class Words(NamedTuple):
    """The parts of a docstring that differ between functions on the host and on a GPU."""

    call_signature: Callable[[SizedSignature], Signature]
    options: str
    """The rows of the arguments that every call has; {outputs} stands for what `out` is."""
    batches: str
    """The lines on leading axes; {first} stands for the first input, {shape} for its shape."""
    example: Callable[[SizedSignature], Iterator[str]]


def docstring(
    signature: SizedSignature,
    facts: Mapping[str, Any],
    manifest: Mapping[str, Any],
    words: Words | None = None,
) -> str:
    """The docstring of a function: every argument and result with shape, unit and meaning, and an example.

    `facts` is the entry of the function in the manifest; `words` are those of the host by default.
    """
    words = words or Words(call_signature, _ANY, _BATCHES, example)
    outputs = ", ".join(x.name for x in signature.outputs)
    several = len(signature.outputs) > 1
    what = facts["summary"]
    lines = [f"{signature.name}{words.call_signature(signature)} -> {outputs}", ""]
    lines += [f"{what[:1].upper()}{what[1:]}.", "", "Args:"]
    lines += map(_row, signature.inputs)
    lines += words.options.format(outputs="a tuple of arrays" if several else "an array").splitlines()
    lines += ["", "Returns:", *(["    A named tuple:"] if several else [])]
    lines += map(_row, signature.outputs)
    lines += ["", *_order(signature, manifest)]
    first = signature.inputs[0]
    shape = ", ".join(map(str, first.shape))
    lines += words.batches.format(first=first.name, shape=shape).replace(", )", ",)").splitlines()
    lines += ["", "Example:", *(f"    {line}" for line in words.example(signature))]
    form, operations = facts["form"], facts["operations"]["total"]
    lines += ["", f"The code uses the form '{form}' and takes {operations} operations."]
    return "\n".join(lines) + "\n"


def _row(argument: SizedArgument) -> str:
    shape = f" {_tuple(argument.shape)}" if argument.shape else ""
    unit = "" if argument.unit in ("", "1") else f" [{argument.unit}]"
    packed = "" if argument.dense is None else f" (packed, of {_tuple(argument.dense)})"
    return f"    {argument.name}{shape}{unit}: {argument.meaning}{packed}."


def _tuple(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _order(signature: SizedSignature, manifest: Mapping[str, Any]) -> Iterator[str]:
    """The lines on the order of joints, frames and contacts, and on joints with several coordinates."""
    arguments = (*signature.inputs, *signature.outputs)
    if not any(x.kind in OF_JOINTS for x in arguments) or not manifest["nq"]:
        return
    ordered = [("joints", "joint_names"), ("frames", "frames"), ("contacts", "contacts")]
    told = [f"`lib.{names}` lists the {what}" for what, names in ordered if manifest.get(what)]
    if told:
        yield f"In order, {', '.join(told)}."
    yield "Units are SI; spatial vectors have their linear part first."
    for joint in manifest["manifold"]:
        if layout := manifest["spaces"][joint["kind"]]["layout"]:
            q, v = (f"{x}[{joint[f'idx_{x}']}:{joint[f'idx_{x}'] + joint[f'n{x}']}]" for x in ("q", "v"))
            yield f"{q} and {v} are those of {joint['name']}: {layout}."
    yield ""


def example(signature: SizedSignature) -> Iterator[str]:
    """The lines of a call in Python; the library is called `lib`, and NumPy `np`."""
    given = [x for x in signature.inputs if x.default is None]
    for argument in given:
        yield f"{argument.name} = {_some(argument)}"
    outputs = ", ".join(x.name for x in signature.outputs)
    by_name = _after_defaults(signature)
    call = ", ".join(f"{x.name}={x.name}" if x.name in by_name else x.name for x in given)
    yield f"{outputs} = lib.{signature.name}({call})"


def _some(argument: SizedArgument) -> str:
    """An expression for a reasonable value of an argument."""
    size = ", ".join(map(str, argument.shape))
    shape = size if len(argument.shape) == 1 else f"({size})"
    if argument.kind == "configuration" and len(argument.shape) == 1:
        return "lib.neutral()"
    if argument.kind == "parameters":
        return "lib.parameters.defaults"
    if argument.kind == "inertia":
        return _TEN
    if not argument.shape:
        return "0.01" if argument.kind == "time_step" else "1.0"
    positive = argument.kind in ("nonnegative", "coefficients") and argument.unit == "1"
    holds = argument.kind == "cosines" or positive
    return f"np.{'ones' if holds else 'zeros'}({shape})"
