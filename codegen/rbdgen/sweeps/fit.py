"""A check that sweeps fit a function: they give its outputs, and read only inputs that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdgen.errors import GraphError
from rbdgen.signature import Kind, Signature
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.records import Entry, Total
from rbdgen.sweeps.sweep import INPUTS, Sweep, kinds_given, names_read

_NAMES: Mapping[Kind, str] = {
    "velocity": "v",
    "acceleration": "a",
    "force": "tau",
    "external_forces": "fext",
}
"""The names that steps use for the inputs of these kinds."""


def check_fit(signature: Signature, outputs: Mapping[str, str], sweeps: Sequence[Sweep]) -> None:
    """Raise GraphError if the sweeps do not fit the function. `outputs` maps the name of each output of the
    function to the name by which the sweeps give it.
    """
    where = f"function '{signature.name}'"
    known = {_NAMES[x.kind] for x in signature.inputs if x.kind in _NAMES}
    results: dict[str, None] = {}
    for sweep in sweeps:
        unknown = sorted(names_read(sweep).intersection((*INPUTS, "fext")) - known)
        if unknown:
            raise GraphError(
                f"{where}: sweep '{sweep.name}' reads {', '.join(unknown)}, which the function does not "
                "take; leave it out of `reads`, as `without` does"
            )
        kinds = kinds_given(sweep)
        known |= kinds.keys()
        results |= dict.fromkeys(name for name, kind in kinds.items() if kind in (Scalar, Entry, Total))
    for x in signature.outputs:
        if outputs.get(x.name) not in results:
            raise GraphError(
                f"{where}: output '{x.name}' is not among what its sweeps give ({', '.join(results)}); "
                "name it so, or map it"
            )
