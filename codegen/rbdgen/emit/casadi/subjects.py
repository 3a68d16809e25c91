"""A function for CasADi, and the functions that give its derivatives: those it needs and those that exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from rbdgen.emit.casadi.entries import Callee, Subject
from rbdgen.signature import BAR, DOT, Kind, SizedArgument, SizedSignature

DIFFERENTIATED: Final[tuple[Kind, ...]] = (
    "configuration",
    "velocity",
    "acceleration",
    "force",
    "external_forces",
)
"""The kinds of inputs by which functions of all derivatives (`Function.derivative_of`) differentiate."""

CONSTANT: Final[tuple[Kind, ...]] = ("nonnegative",)
"""The kinds of inputs by which nothing is differentiated."""


class Needed(NamedTuple):
    """The names of the functions that give derivatives."""

    derivatives: str | None
    """The function of all derivatives at once."""
    first: str | None
    """The product with first derivatives."""
    second: tuple[str, ...]
    """The products that second derivatives need."""

    @property
    def names(self) -> list[str]:
        """All these names, each once."""
        return list(dict.fromkeys(filter(None, (self.derivatives, self.first, *self.second))))


def needed(value: SizedSignature, derivatives: str | None, *, hessian: bool, parameters: int = 0) -> Needed:
    """The functions that give the derivatives of a function.

    Inputs that the function of all derivatives does not cover need products by rows or by columns, whichever
    are fewer.

    Args:
        value: the function.
        derivatives: the function of all its derivatives at once, if there is one.
        hessian: whether second derivatives are needed.
        parameters: the number of the robot's parameters, if the signature lacks their table.
    """
    covered = DIFFERENTIATED if derivatives else ()
    left = [x for x in value.inputs if x.kind not in (*covered, *CONSTANT)]
    columns = sum(x.size for x in left) + parameters
    rows = sum(y.size for y in value.outputs)
    first = f"{value.name}_{'vjp' if rows <= columns else 'jvp'}" if columns else None
    second = (f"{value.name}_vjp", f"{value.name}_hvp") if hessian else ()
    return Needed(derivatives, first, second)


def subject_of(name: str, derivatives: str | None, find: Callable[[str], Callee | None]) -> Subject:
    """The function with those of its derivatives that exist. `find` looks a function up by its name."""
    value = find(name)
    assert value is not None
    vjp, jvp, hvp = (find(f"{name}_{mode}") for mode in ("vjp", "jvp", "hvp"))
    return Subject(value, find(derivatives) if derivatives else None, vjp, jvp, hvp)


def is_by_elements(product: Callee, value: SizedSignature) -> bool:
    """Whether the directions and results of a product are elements of the function's own arrays."""
    own = {x.name: x for x in (*value.inputs, *value.outputs)}
    arrays = (*product.signature.inputs, *product.signature.outputs)
    names = {x.name for x in arrays}
    tables = [x.name for x in value.inputs if x.kind == "table"]
    tabled = all(x + BAR in names or x + DOT in names for x in tables)
    return tabled and bool(product.dependence) and all(_fits(x, own) for x in arrays)


def _fits(array: SizedArgument, own: dict[str, SizedArgument]) -> bool:
    """Whether a weight or a rate has the shape of the array to which it belongs."""
    for suffix in (BAR + DOT, BAR, DOT):
        of = own.get(array.name.removesuffix(suffix))
        if array.name.endswith(suffix) and of is not None:
            return array.shape == of.shape
    return True
