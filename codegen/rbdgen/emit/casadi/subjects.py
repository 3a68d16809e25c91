"""A function for CasADi, and the functions that give its derivatives: those it needs and those that exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from rbdgen.emit.casadi.entries import Callee, Subject
from rbdgen.functions.differentiated import HELD
from rbdgen.graph.derivatives.jacobian import jacobian_name
from rbdgen.signature import BAR, DOT, OBSTACLES, Kind, SizedArgument, SizedSignature

Find: TypeAlias = Callable[[str], Callee | None]
"""Looks a function of the folder up by its name."""

DIFFERENTIATED: Final[tuple[Kind, ...]] = (
    "configuration",
    "velocity",
    "acceleration",
    "force",
    "external_forces",
)
"""The kinds of inputs by which functions of all derivatives (`Function.derivative_of`) differentiate."""

CONSTANT: Final[tuple[Kind, ...]] = ("nonnegative", "held", *OBSTACLES)
"""The kinds of inputs by which nothing is differentiated."""


class Needed(NamedTuple):
    """The names of the functions that give derivatives."""

    derivatives: str | None
    """The function of all first derivatives at once."""
    first: str | None
    """The product with first derivatives."""
    second: tuple[str, ...]
    """The functions that second derivatives need: products, or NAME_hessian."""

    @property
    def names(self) -> list[str]:
        """All these names, each once."""
        return list(dict.fromkeys(filter(None, (self.derivatives, self.first, *self.second))))


def needed(
    value: SizedSignature,
    derivatives: str | None,
    *,
    hessian: bool,
    whole: str | None = None,
    parameters: int = 0,
) -> Needed:
    """The functions that give the derivatives of a function.

    Inputs that the function of all derivatives does not cover need products by rows or by columns, whichever
    are fewer.

    Args:
        value: the function.
        derivatives: the function of all its derivatives at once, if there is one.
        hessian: whether second derivatives are needed.
        whole: the function of all its second derivatives at once, if there is one.
        parameters: the number of the robot's parameters, if the signature lacks their table.
    """
    covered = covered_by(derivatives, value) if derivatives else []
    left = [x for x in value.inputs if x not in covered and x.kind not in CONSTANT]
    columns = sum(x.size for x in left) + parameters
    rows = sum(y.size for y in value.outputs)
    first = f"{value.name}_{'vjp' if rows <= columns else 'jvp'}" if columns else None
    products = (f"{value.name}_vjp", f"{value.name}_hvp")
    second = () if not hessian else products if whole is None else (whole,)
    return Needed(derivatives, first, second)


def subject_of(name: str, derivatives: str | None, find: Find, whole: str | None = None) -> Subject:
    """The function with those of its derivatives that exist. For `whole`, see `needed`."""
    value = find(name)
    assert value is not None
    vjp, jvp, hvp = (find(f"{name}_{mode}") for mode in ("vjp", "jvp", "hvp"))
    all_first, all_second = (find(one) if one else None for one in (derivatives, whole))
    return Subject(value, all_first, vjp, jvp, hvp, all_second)


def covered_by(derivatives: str, value: SizedSignature) -> list[SizedArgument]:
    """The inputs of a function by which a function of all its derivatives differentiates."""
    if derivatives in (f"{value.name}_jacobian", f"{value.name}_gradient"):
        return _moving(value)
    return [x for x in value.inputs if x.kind in DIFFERENTIATED]


def _moving(value: SizedSignature) -> list[SizedArgument]:
    """The inputs by which whole derivatives are taken."""
    return [x for x in value.inputs if x.kind not in HELD]


def jacobian_in(value: SizedSignature, find: Find, *, flat: bool) -> str | None:
    """NAME_jacobian or NAME_gradient of a function; None if there is neither.

    Args:
        value: the function.
        find: see `Find`.
        flat: whether the tangent space of q is the space of its elements. If not, there is none where the
            derivatives of a configuration are in the tangent space, or packed ones would be converted.
    """
    by = [(y, x) for y in value.outputs for x in _moving(value)]
    names = [jacobian_name(y.name, x.name) for y, x in by]
    for kind, before in (("jacobian", []), ("gradient", [y.name for y in value.outputs])):
        name = f"{value.name}_{kind}"
        found = find(name)
        if found is None or [x.name for x in found.signature.outputs] != [*before, *names]:
            continue  # com_jacobian is a function by itself
        derivatives = found.signature.outputs[len(before) :]
        curved = [
            y.kind == "configuration" or (x.kind == "configuration" and derivative.dense is not None)
            for (y, x), derivative in zip(by, derivatives, strict=True)
        ]
        if flat or not any(curved):
            return name
    return None


def hessian_in(value: SizedSignature, find: Find, *, flat: bool) -> str | None:
    """NAME_hessian of a function; None if there is none, or if CasADi needs more derivatives than it has:
    those by parameters, or by the elements of a q that is not flat.
    """
    name, by = f"{value.name}_hessian", _moving(value)
    tabled = any(x.kind == "table" for x in value.inputs)
    if find(name) is None or tabled or not (flat or all(x.kind != "configuration" for x in by)):
        return None
    return name


def seconds(subject: Subject) -> dict[tuple[str, str], SizedArgument]:
    """The outputs of NAME_hessian, by the names of the two inputs."""
    if subject.hessian is None:
        return {}
    names = [x.name for x in _moving(subject.value.signature)]
    pairs = [(x, z) for k, x in enumerate(names) for z in names[k:]]
    return dict(zip(pairs, subject.hessian.signature.outputs, strict=True))


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
