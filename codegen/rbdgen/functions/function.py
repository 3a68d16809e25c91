"""A row of the table of functions, and what rows are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar

import numpy as np

from rbdgen.errors import OptionError
from rbdgen.functions.needs import Need
from rbdgen.functions.resistance import Added
from rbdgen.model.inertial_parameters import BaseParameters
from rbdgen.model.limbs import unlike_limbs
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.model.tree_size import TreeSize, tree_size
from rbdgen.signature import FLOATING, OF_JOINTS, Argument, Signature, SizedSignature
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import looped
from rbdgen.sweeps.loops import LoopedForm
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Sweep
from rbdgen.wording import option

Outputs = Sequence[Sequence[Scalar]]
"""The elements of every output, row-major, in the order of the signature."""


Robot = TypeVar("Robot", Model, ReducedModel, Model | ReducedModel)

LIMBS: Final = "limbs"
"""A form that no row lists: it runs alike limbs as SIMD lanes and is derived from the row's `swept` form."""

LIMB_LOOPS: Final = "limb-loops"
"""The same form with a loop over the limbs, for small memories."""

Over: TypeAlias = Literal["all", "independent", "tree"]


def everywhere(model: Model) -> bool:
    """Any robot."""
    del model
    return True


def where_coupled(model: Model) -> bool:
    """A robot on which joints follow others."""
    return not model.coupling.is_trivial


SMALL_ARM = 6
"""Joints. The longer a chain, the more a factor of M costs compared with articulated bodies."""


def where_factors_pay(model: Model) -> bool:
    """A robot with joints that follow others, with rotors (which make projected inertias dense), or a small
    one.
    """
    return where_coupled(model) or model.has_rotors or model.nv <= SMALL_ARM


@dataclass(frozen=True)
class Form:
    """One form of an algorithm."""

    name: str
    source: str
    """The paper or book, and what the form adds to it."""
    trace: Callable[[Any, State], Outputs]
    reduced: bool = False
    """Whether it is written for a `ReducedModel`; a plain model is then reduced first."""
    loops: Callable[[ReducedModel], LoopedForm] | None = None
    """The loops of a form that repeats straight lines; `trace` then runs them one after the other."""
    compact: bool = False
    """Whether it exists for its small code alone, never for its number of operations."""
    over: Over = "all"
    """`all`: outputs are folded for followers; `independent`: the form folds them; `tree`: no followers."""
    worth: Callable[[Model], bool] = everywhere
    """Robots on which it is worth a trial."""
    swept: bool = False
    """Whether it can run alike limbs as lanes; in loops, whether the loop that reads the inputs can."""

    def does(self, model: Model) -> bool:
        """Whether it can serve this robot."""
        return self.over != "tree" or model.coupling.is_trivial

    @property
    def smooth(self) -> Form:
        """The same form for outputs that will be differentiated."""
        return replace(self, trace=lambda robot, x: self.trace(robot, replace(x, smooth=True)))


Call = Callable[..., Any]
"""`call(name, **changed)` gives the outputs of a function at random states, with some inputs changed."""


@dataclass(frozen=True)
class Identity:
    """An equation between results that holds for every robot."""

    what: str
    functions: tuple[str, ...]
    sides: Callable[[Call, Mapping[str, Any]], tuple[Any, Any]]
    """Gives both sides as arrays (or tuples of them) from a `Call` and the inputs by name, (states, ...)."""


@dataclass(frozen=True)
class Function:
    """A row of the table: all that rbdgen knows of one function. No other module names it."""

    signature: Signature
    summary: str
    forms: tuple[Form, ...]
    """Its forms; the first one is the textbook's."""
    operations: Callable[[TreeSize], int]
    """About how many operations the textbook's form takes."""
    pinocchio: Callable[[Any, Any, Any, Mapping[str, Any]], Any] | None = None
    """Its outputs by Pinocchio, from the module, a model, its data and the inputs of one state by name."""
    identities: tuple[Identity, ...] = ()
    """Identities of this function and those of rows above."""
    resistance: tuple[Added, ...] = ()
    """What joint resistance adds to its outputs or takes from its torques, if its forms do not do so."""
    derivative_of: str | None = None
    """The function that it differentiates, with respect to all its tangent vectors and forces, in order."""
    projected: Callable[[Call, Mapping[str, Any]], Any] | None = None
    """Its outputs from other functions where joints follow others and they are not G^T f G."""
    basis: Callable[[Model], BaseParameters] | None = None
    """The parameters of a robot to which its columns belong."""
    contacts: tuple[str, ...] | None = None
    """The contacts it is restricted to; None for all of the robot's."""
    measure: tuple[Function, str | None] | None = None
    """A much smaller function, and its form (None: the same name), whose operations rank axes as well."""
    of_joint_frames: bool = False
    """Whether its outputs refer to quantities that are given in the joints' own frames."""
    inverse: str | None = None
    """The function that takes this one's only output and gives back one of its inputs, as aba does for
    rnea.
    """
    along: Form | None = None
    """A form of NAME_jvp: the rates of its outputs along a direction in the tangent space."""
    differentiated: Differentiated | None = None
    """For a derivative of another function, whose graph its forms change; see `differentiated.py`."""
    needs: tuple[Need, ...] = ()
    """What a robot must have."""
    on_request: bool = False
    """Whether lists of all functions of a robot leave it out, see `table.rows_of`."""

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def of_frames(self) -> bool:
        """Whether it depends on the frames that a user chose."""
        arguments = (*self.signature.inputs, *self.signature.outputs)
        return any("nf" in argument.shape for argument in arguments)

    @property
    def of_contacts(self) -> bool:
        """Whether it depends on the robot's contacts."""
        arguments = (*self.signature.inputs, *self.signature.outputs)
        return any(size in argument.shape for argument in arguments for size in ("nc", "ncontacts"))

    def missing(self, model: Model) -> list[Need]:
        """What it needs and the robot does not have."""
        return [need for need in self.needs if not need.has(model)]

    def carriers(self, model: Model) -> list[tuple[int, ...]]:
        """The bodies that carry each frame or each contact on which it depends."""
        frames = [(frame.body,) for frame in model.frames] if self.of_frames else []
        contacts = self.held_by(model).contacts if self.of_contacts else ()
        return [*frames, *(tuple(end.body for end in contact.ends) for contact in contacts)]

    @property
    def by_parameters(self) -> bool:
        """Whether it takes parameters of the robot, which must then be inputs."""
        return any(x.kind == "parameters" for x in self.signature.inputs)

    def sized(self, model: Model, parameters: int = 0) -> SizedSignature:
        """Its signature for a robot with so many parameters as inputs; OptionError if it needs some."""
        if self.by_parameters and not parameters:
            raise OptionError(
                f"function '{self.name}' needs parameters that stay inputs; ask for some, such as "
                f"{option('params', ['mass:*'])}"
            )
        base = {"nbase": len(self.basis(model).columns)} if self.basis else {}
        signature = self.signature.sized({**self.held_by(model).sizes, **base, "np": parameters})
        return signature if model.is_floating else signature.on_fixed_base()

    def estimate(self, model: Model) -> int:
        """About how many operations the textbook's form takes."""
        return self.operations(tree_size(self.held_by(model)))

    def packed(self, asked: bool) -> list[str]:
        """The outputs that store only entries that may be nonzero; with `asked`, all matrices do."""
        return [x.name for x in self.signature.outputs if x.packed or (asked and len(x.shape) > 1)]

    def held_by(self, robot: Robot) -> Robot:
        """The robot with only those contacts to which the function is restricted."""
        return robot if self.contacts is None else robot.with_contacts(self.contacts)

    @property
    def smallest(self) -> Form | None:
        """The form with the least code, or None if the row has no compact form."""
        return next((form for form in self.forms if form.compact), None)

    def smallest_for(self, model: Model) -> Form | None:
        """The same form, if it can serve this robot."""
        return self.smallest if self.smallest is not None and self.smallest.does(model) else None

    @property
    def all_forms(self) -> tuple[Form, ...]:
        """The forms of its row, and those over alike limbs."""
        return (*self.forms, *filter(None, (self.in_limbs, self.in_limb_loops)))

    @property
    def in_limbs(self) -> Form | None:
        """The form that runs alike limbs as the lanes of vectors; None if no form can."""
        return self._of_limbs(LIMBS, "alike limbs as lanes")

    @property
    def in_limb_loops(self) -> Form | None:
        """The form that loops over alike limbs; None if no form can."""
        return self._of_limbs(LIMB_LOOPS, "in loops over alike limbs")

    def _of_limbs(self, name: str, how: str) -> Form | None:
        swept = next((form for form in self.forms if form.swept and form.loops is None), None)
        arguments = (*self.signature.inputs, *self.signature.outputs)
        if swept is None or any(x.kind not in OF_JOINTS for x in arguments):
            return None
        return replace(swept, name=name, source=f"{swept.source}; {how}", over="tree")

    def form(self, name: str) -> Form:
        """The form of this name; OptionError if there is none."""
        for form in self.all_forms:
            if form.name == name:
                return form
        known = ", ".join(form.name for form in self.all_forms)
        raise OptionError(f"function '{self.name}' has no form '{name}'; choose from: {known}")

    def forms_for(self, model: Model) -> list[Form]:
        """The forms that are worth a trial for a robot, the textbook's first."""
        return [form for form in self.forms if form.does(model) and form.worth(model)]

    def form_for(self, model: Model, name: str) -> Form:
        """The form of this name; OptionError if there is none, or if it cannot serve this robot."""
        form = self.form(name)
        if not form.does(model):
            known = ", ".join(form.name for form in self.forms_for(model))
            raise OptionError(
                f"form '{name}' of '{self.name}' does not support mimic joints, which '{model.name}' has; "
                f"choose from: {known}"
            )
        reason = unlike_limbs(model) if name in (LIMBS, LIMB_LOOPS) else None
        if reason is not None:
            raise OptionError(
                f"form '{name}' of '{self.name}': '{model.name}' has no alike limbs, {reason}; leave it out"
            )
        return form

    def trace(self, form: Form, robot: Model | ReducedModel, x: State) -> Outputs:
        """The outputs of a form, over the independent degrees of freedom."""
        robot = self.held_by(robot)
        model = robot if isinstance(robot, Model) else robot.model
        outputs = form.trace(robot, x)
        if form.over != "all" or model.coupling.is_trivial:
            return outputs
        return [
            folded(model, argument, output)
            for argument, output in zip(self.signature.outputs, outputs, strict=True)
        ]


@dataclass(frozen=True)
class Differentiated:
    """How a function is the derivative (`mode`: "vjp", "jvp" or "hvp") of another one."""

    mode: str
    of: Function
    by: tuple[Argument, ...]
    """The inputs of `of` with respect to which it is differentiated."""
    inverse: Function | None
    """The inverse of `of`, if it has one."""
    coordinates: bool = False
    """Whether gradients of q are in its nq elements; otherwise they are in its tangent space."""


def folded(model: Model, argument: Argument, output: Sequence[Scalar]) -> Sequence[Scalar]:
    """An output over all degrees of freedom as one over the independent ones."""
    if argument.kind == "matrix":
        rows = [output[k : k + model.nv] for k in range(0, len(output), model.nv)]
        return flat(model.coupling.folded_matrix(rows))
    if argument.kind in ("torque_coefficients", "by_external_forces"):
        columns = len(output) // model.nv
        rows = [output[k : k + columns] for k in range(0, len(output), columns)]
        return flat(model.coupling.folded_rows(rows))
    if argument.kind in ("force", "columns"):
        rows = [output[k : k + model.nv] for k in range(0, len(output), model.nv)]
        return flat(list(map(model.coupling.folded, rows)))
    assert argument.kind in ("scalar", "energy_coefficients", "values")
    return output


def cheap(
    name: str,
    source: str,
    algorithm: Callable[[ReducedModel, State], Outputs],
    over: Over = "all",
    *,
    worth: Callable[[Model], bool] = everywhere,
    swept: bool = False,
) -> Form:
    """A form for reduced models."""
    return Form(
        name,
        source,
        lambda robot, x: algorithm(_reduced(robot), x),
        reduced=True,
        over=over,
        worth=worth,
        swept=swept,
    )


def swept(
    name: str, source: str, outputs: Sequence[str], sweeps: Sequence[Sweep], over: Over = "all"
) -> Form:
    """A straight-line form: sweeps give these outputs."""

    def algorithm(reduced: ReducedModel, x: State) -> Outputs:
        given = straight(reduced, x).run(*sweeps)
        return [flat(given[name]) if isinstance(given[name][0], list) else given[name] for name in outputs]

    return cheap(name, source, algorithm, over, swept=True)


def in_loops(
    source: str,
    loops: Callable[[ReducedModel], LoopedForm],
    name: str = "looped",
    *,
    compact: bool = True,
    over: Over = "all",
    worth: Callable[[Model], bool] = everywhere,
    swept: bool = False,
) -> Form:
    """A form in loops."""
    return Form(
        name, source, lambda robot, x: loops(_reduced(robot)).run(x), True, loops, compact, over, worth, swept
    )


def swept_in_loops(source: str, outputs: Sequence[str], sweeps: Sequence[Sweep], over: Over = "all") -> Form:
    """A form in loops over bodies: sweeps give these outputs."""
    return in_loops(source, lambda reduced: looped(reduced, outputs, *sweeps), over=over)


def flat(matrix: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The elements of a matrix, row-major."""
    return [value for row in matrix for value in row]


def _reduced(robot: Model | ReducedModel) -> ReducedModel:
    return reduce(robot) if isinstance(robot, Model) else robot


Q = Argument("q", "configuration", ("nq",), "rad, m", f"joint positions{FLOATING}x y z, quaternion x y z w")
V = Argument(
    "v",
    "velocity",
    ("nv",),
    "rad/s, m/s",
    f"joint velocities{FLOATING}linear, then angular, in its own axes",
)
A = Argument("a", "acceleration", ("nv",), "rad/s^2, m/s^2", "joint accelerations")
TAU = Argument("tau", "force", ("nv",), "N m, N", "joint torques and forces")
FEXT = Argument(
    "fext",
    "external_forces",
    ("nbodies", 6),
    "N, N m",
    "external force on every moving body: force, moment, in its joint frame",
)


def square(name: str, unit: str, meaning: str, *, symmetric: bool = False) -> Argument:
    """A matrix over the degrees of freedom."""
    return Argument(name, "matrix", ("nv", "nv"), unit, meaning, (0, 1) if symmetric else None)


def symmetric(upper: Any) -> Any:
    """A full matrix from the upper triangle, which is all that Pinocchio fills."""
    return np.triu(upper) + np.triu(upper, 1).T
