"""Forms of functions. A form is an algorithm that computes the outputs of a function. Functions at the end
of this file make forms of the usual kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.distributed import by_freedoms
from rbdgen.sweeps.freedoms import freedoms_fill
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import looped
from rbdgen.sweeps.loops import LoopedForm
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Sweep

Outputs = Sequence[Sequence[Scalar]]
"""The elements of every output, row-major, in the order of the signature."""

LIMBS: Final = "limbs"
"""The name of a form that rows of the function table do not list: the first form of a row that
`can_use_limbs`, in which limbs of the same structure, such as the legs of a quadruped, are SIMD lanes.
"""

LIMB_LOOPS: Final = "limb-loops"
"""The name of another form that rows do not list: the form of `LIMBS` with a loop over the limbs, for small
memories.
"""

Degrees: TypeAlias = Literal["all", "independent", "tree"]


def everywhere(model: Model) -> bool:
    """True for every robot."""
    del model
    return True


def where_coupled(model: Model) -> bool:
    """Whether joints of the robot follow others."""
    return not model.coupling.is_trivial


def nowhere(model: Model) -> bool:
    """False for every robot."""
    del model
    return False


SMALL_ARM = 6
"""The largest number of degrees of freedom of a small robot. The longer a chain is, the more a factor of M
costs compared with articulated bodies.
"""


def where_factors_pay(model: Model) -> bool:
    """Whether a factor of M can pay: on robots with joints that follow others, on robots with rotors, which
    make projected inertias dense, and on small robots.
    """
    return where_coupled(model) or model.has_rotors or model.nv <= SMALL_ARM


@dataclass(frozen=True, eq=False)
class Swept:
    """Sweeps that compute the outputs of a function."""

    sweeps: tuple[Sweep, ...]
    outputs: Mapping[str, str]
    """The name that the sweeps use for each output."""

    @staticmethod
    def of(outputs: Sequence[str] | Mapping[str, str], sweeps: Sequence[Sweep]) -> Swept:
        """Make an object of the sweeps. `outputs` is a mapping if the sweeps use other names than the
        function.
        """
        named = outputs if isinstance(outputs, Mapping) else dict(zip(outputs, outputs, strict=True))
        return Swept(tuple(sweeps), named)

    def in_loops(self, driver: Callable[..., LoopedForm]) -> Callable[[ReducedModel], LoopedForm]:
        """A function that makes loops of the sweeps with a driver and gives the results the names of the
        outputs.
        """
        names = {given: name for name, given in self.outputs.items()}
        return lambda reduced: driver(reduced, list(names), *self.sweeps).renamed(names)


@dataclass(frozen=True)
class Form:
    """An algorithm for a function, which may also give loops."""

    name: str
    source: str
    """The paper or book, and what the form adds to it."""
    trace: Callable[[Any, State], Outputs]
    reduced: bool = False
    """Whether the form is written for a `ReducedModel`. A plain model is then reduced first."""
    loops: Callable[[ReducedModel], LoopedForm] | None = None
    """Makes the loops of a form that repeats straight-line code. `trace` then runs these loops one after the
    other.
    """
    for_size: bool = False
    """Whether the form exists only because its code is small, and not for its number of operations."""
    degrees: Degrees = "all"
    """The degrees of freedom of its outputs on a robot on which joints follow others.

    With `all`, the outputs are over all degrees of freedom and are folded afterwards. With `independent`, the
    form folds them itself. With `tree`, the form does not support such robots.
    """
    worth_trying: Callable[[Model], bool] = everywhere
    """Tells whether the form is worth a trial on a robot."""
    can_use_limbs: bool = False
    """Whether the form can compute alike limbs as lanes. For a form in loops this concerns the loop that
    reads the inputs.
    """
    swept: Swept | None = None
    """The sweeps of the form, if it consists of nothing else."""
    former_name: str | None = None
    """The name of the form in earlier versions, which users may still give."""
    most_work: float = 1.0
    """The greatest work of its loops with which the form is chosen, as a fraction of the straight line's."""
    joins: bool = False
    """Whether the loops can be joined with those of other such forms, see `sweeps.loops.joined`."""
    calls: bool = False
    """Whether the form is a straight line around the programs of other functions. `trace` then traces these
    functions in their first forms.
    """

    def does(self, model: Model) -> bool:
        """Whether the form supports this robot."""
        return self.degrees != "tree" or model.coupling.is_trivial

    @cached_property
    def for_derivatives(self) -> Form:
        """This form, traced such that its outputs can be differentiated. It is one object, so that searches
        for its body axes are kept.
        """
        return replace(self, trace=lambda robot, x: self.trace(robot, replace(x, smooth=True)))


def cheap(
    name: str,
    source: str,
    algorithm: Callable[[ReducedModel, State], Outputs],
    degrees: Degrees = "all",
    *,
    worth_trying: Callable[[Model], bool] = everywhere,
    can_use_limbs: bool = False,
) -> Form:
    """Make a straight-line form of an algorithm on reduced models."""
    return Form(
        name,
        source,
        lambda robot, x: algorithm(_reduced(robot), x),
        reduced=True,
        degrees=degrees,
        worth_trying=worth_trying,
        can_use_limbs=can_use_limbs,
    )


def swept(
    name: str,
    source: str,
    outputs: Sequence[str] | Mapping[str, str],
    sweeps: Sequence[Sweep],
    degrees: Degrees = "all",
) -> Form:
    """Make a straight-line form of sweeps that compute these outputs."""
    own = Swept.of(outputs, sweeps)

    def algorithm(reduced: ReducedModel, x: State) -> Outputs:
        given = straight(reduced, x).run(*sweeps)
        return [flat(given[k]) if isinstance(given[k][0], list) else given[k] for k in own.outputs.values()]

    return replace(cheap(name, source, algorithm, degrees, can_use_limbs=True), swept=own)


def in_loops(
    source: str,
    loops: Callable[[ReducedModel], LoopedForm],
    name: str = "looped",
    *,
    for_size: bool = True,
    degrees: Degrees = "all",
    worth_trying: Callable[[Model], bool] = everywhere,
    can_use_limbs: bool = False,
    former_name: str | None = None,
) -> Form:
    """Make a form of loops."""
    return Form(
        name,
        source,
        lambda robot, x: loops(_reduced(robot)).run(x),
        reduced=True,
        loops=loops,
        for_size=for_size,
        degrees=degrees,
        worth_trying=worth_trying,
        can_use_limbs=can_use_limbs,
        former_name=former_name,
    )


def swept_in_loops(
    source: str,
    outputs: Sequence[str] | Mapping[str, str],
    sweeps: Sequence[Sweep],
    degrees: Degrees = "all",
) -> Form:
    """Make a form that runs sweeps in loops over bodies."""
    own = Swept.of(outputs, sweeps)
    return replace(in_loops(source, own.in_loops(looped), degrees=degrees), swept=own)


def swept_in_lanes(source: str, outputs: Sequence[str] | Mapping[str, str], sweeps: Sequence[Sweep]) -> Form:
    """Make a form that runs sweeps in loops in which degrees of freedom are the lanes of vectors."""
    own = Swept.of(outputs, sweeps)
    form = in_loops(
        source,
        own.in_loops(by_freedoms),
        "freedoms",
        for_size=False,
        degrees="tree",
        worth_trying=freedoms_fill,
        former_name="vectors",
    )
    return replace(form, swept=own)


def flat(matrix: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The elements of a matrix, row-major."""
    return [value for row in matrix for value in row]


def _reduced(robot: Model | ReducedModel) -> ReducedModel:
    return reduce(robot) if isinstance(robot, Model) else robot
