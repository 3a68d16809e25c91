"""`Function`, a row of the table of functions, and the classes of which a row consists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from rbdgen.errors import OptionError
from rbdgen.functions.composition import Composition
from rbdgen.functions.folded import folded
from rbdgen.functions.form import LIMB_LOOPS, LIMBS, Form, Outputs
from rbdgen.functions.inner import Implicit, Inner
from rbdgen.functions.needs import Need
from rbdgen.functions.resistance import Added
from rbdgen.model.alike_limbs import unlike_limbs
from rbdgen.model.inertial_parameters import BaseParameters
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.model.tree_size import TreeSize, tree_size
from rbdgen.signature import OF_JOINTS, Argument, Signature, SizedSignature
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.fit import check_fit
from rbdgen.sweeps.inputs import State
from rbdgen.wording import option

Robot = TypeVar("Robot", Model, ReducedModel, Model | ReducedModel)

Call = Callable[..., Any]
"""`call(name, **changed)` gives the outputs of a function at random states, with some inputs changed."""


@dataclass(frozen=True)
class Identity:
    """An equation between results that holds for every robot."""

    what: str
    functions: tuple[str, ...]
    sides: Callable[[Call, Mapping[str, Any]], tuple[Any, Any]]
    """Computes both sides as arrays, or tuples of arrays, from a `Call` and the inputs by name. The first
    axis of each array is over states.
    """


@dataclass(frozen=True)
class Function:
    """A row of the table, which holds all that rbdgen knows about one function. No other module names the
    function.
    """

    signature: Signature
    summary: str
    forms: tuple[Form, ...]
    """The forms of the function. The first one is that of the textbook."""
    operations: Callable[[TreeSize], int]
    """Estimates the number of operations of the textbook's form."""
    pinocchio: Callable[[Any, Any, Any, Mapping[str, Any]], Any] | None = None
    """Computes the outputs with Pinocchio, from the module, a model, its data, and the inputs of one state by
    name.
    """
    identities: tuple[Identity, ...] = ()
    """Identities of this function and those of rows above."""
    resistance: tuple[Added, ...] = ()
    """The terms of joint resistance that are added to the outputs or subtracted from the input torques. A
    function whose forms include resistance lists none.
    """
    derivative_of: str | None = None
    """The name of the function that this one differentiates with respect to all of that function's tangent
    vectors and forces, in order.
    """
    projected: Callable[[Call, Mapping[str, Any]], Any] | None = None
    """Computes the outputs from those of other functions, for robots on which joints follow others. It is
    None if the outputs are those of the robot with all joints independent, folded as in `model/coupling.py`.
    """
    basis: Callable[[Model], BaseParameters] | None = None
    """Gives the base parameters of a robot, to which the columns of the output belong."""
    contacts: tuple[str, ...] | None = None
    """The names of the contacts to which the function is restricted. None stands for all contacts of the
    robot.
    """
    measure: tuple[Function, str | None] | None = None
    """A much smaller function and the name of one of its forms, whose number of operations ranks choices of
    body axes equally well. If the name is None, the form has the name of the form to be measured.
    """
    of_joint_frames: bool = False
    """Whether the outputs refer to quantities that are given in the joints' own frames."""
    inverse: str | None = None
    """The name of the function that takes this function's only output in place of one of its inputs, and
    returns this input. For rnea it is aba.
    """
    through: Through | None = None
    """Computes the function from the results of another row; None if no other row is used."""
    along: Form | None = None
    """A form of NAME_jvp, which computes the rates of the outputs along a direction in the tangent space."""
    only_along: bool = False
    """Whether derivatives are only made by the form `along`, or by the row of the derivatives. Those of the
    graph would lose digits.
    """
    differentiated: Differentiated | None = None
    """Describes the derivative if this function is made by differentiating the graph of another one, see
    `differentiated.py`.
    """
    whole: Whole | None = None
    """Describes the derivative if this function is a whole derivative of another one, see `whole.py`."""
    composition: Composition | None = None
    """The user's own text, if the function is not one of the table, see `composed.py`."""
    needs: tuple[Need, ...] = ()
    """The features that a robot must have."""
    around: Around | None = None
    """Describes the parts of the function, if it is a straight line around loops."""
    calls: Around | None = None
    """Describes the parts of the function's form that calls other functions, if there is one."""
    on_request: bool = False
    """Whether lists of all functions of a robot omit this one, see `table.rows_of`."""

    def __post_init__(self) -> None:
        for form in self.forms:
            if form.swept is not None:
                check_fit(self.signature, form.swept.outputs, form.swept.sweeps)

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def of_frames(self) -> bool:
        """Whether the function depends on the frames that a user chose."""
        arguments = (*self.signature.inputs, *self.signature.outputs)
        return any("nf" in argument.shape for argument in arguments)

    @property
    def of_contacts(self) -> bool:
        """Whether the function depends on the contacts of the robot."""
        arguments = (*self.signature.inputs, *self.signature.outputs)
        return any(
            size in argument.shape for argument in arguments for size in ("nc", "ncontacts", "npoints")
        )

    @property
    def of_distances(self) -> bool:
        """Whether the function depends on the capsules of the robot."""
        arguments = (*self.signature.inputs, *self.signature.outputs)
        return any(size in argument.shape for argument in arguments for size in ("npairs", "ngroups"))

    def missing(self, model: Model) -> list[Need]:
        """The needs of the function that the robot does not meet."""
        return [need for need in self.needs if not need.has(model)]

    def carriers(self, model: Model) -> list[tuple[int, ...]]:
        """The bodies that carry each frame, each contact or all capsules on which the function depends, one
        tuple for each.
        """
        frames = [(frame.body,) for frame in model.frames] if self.of_frames else []
        contacts = self.held_by(model).contacts if self.of_contacts else ()
        ends = [tuple(end.body for end in contact.ends) for contact in contacts]
        capsules = [tuple(x.body for x in model.distances.capsules)] if self.of_distances else []
        return [*frames, *ends, *capsules]

    def derivative(
        self,
        signature: Signature,
        summary: str,
        forms: tuple[Form, ...],
        times: int,
        *,
        identities: tuple[Identity, ...] = (),
        differentiated: Differentiated | None = None,
        whole: Whole | None = None,
    ) -> Function:
        """The row of a derivative of this function. What holds for robots and inputs stays, and what concerns
        the outputs is left out. `times` is the ratio of its number of operations to that of this function.

        Raises OptionError if two arrays would have the same name, as for functions that are called together.
        """
        names = [x.name for x in (*signature.inputs, *signature.outputs)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise OptionError(
                f"function '{signature.name}': two arrays would be named '{twice[0]}'; differentiate other "
                f"functions than '{self.name}'"
            )
        return replace(
            self,
            signature=signature,
            summary=summary,
            forms=forms,
            operations=lambda size: times * self.operations(size),
            pinocchio=None,
            identities=identities,
            resistance=(),
            derivative_of=None,
            projected=None,
            measure=None,
            inverse=None,
            through=None,
            along=None,
            only_along=False,
            composition=None,
            around=None,
            calls=None,
            differentiated=differentiated,
            whole=whole,
        )

    @property
    def of_a_graph(self) -> bool:
        """Whether the function is made by differentiating the graph of another one, so that no form of it can
        be traced.
        """
        return self.differentiated is not None or self.whole is not None

    @property
    def by_parameters(self) -> bool:
        """Whether the function takes parameters of the robot, which must then be inputs."""
        return any(x.kind == "parameters" for x in self.signature.inputs)

    def sized(self, model: Model, parameters: int = 0) -> SizedSignature:
        """The signature for a robot of which this many parameters are inputs.

        Raises OptionError if the function needs parameters and there are none.
        """
        if self.by_parameters and not parameters:
            raise OptionError(
                f"function '{self.name}' needs parameters that stay inputs; ask for some, such as "
                f"{option('params', ['mass:*'])}"
            )
        base = {"nbase": len(self.basis(model).columns)} if self.basis else {}
        signature = self.signature.sized({**self.held_by(model).sizes, **base, "np": parameters})
        return signature if model.is_floating else signature.on_fixed_base()

    def estimate(self, model: Model) -> int:
        """An estimate of the number of operations of the textbook's form."""
        return self.operations(tree_size(self.held_by(model)))

    def packed(self, asked: bool) -> list[str]:
        """The names of the outputs of which only entries that may be nonzero are stored. With `asked`, all
        matrices are among them.
        """
        return [x.name for x in self.signature.outputs if x.packed or (asked and len(x.shape) > 1)]

    def held_by(self, robot: Robot) -> Robot:
        """The robot with only the contacts to which the function is restricted."""
        return robot if self.contacts is None else robot.with_contacts(self.contacts)

    @property
    def smallest(self) -> Form | None:
        """The form with the least code, or None if the row has no form for size."""
        return next((form for form in self.forms if form.for_size), None)

    def smallest_for(self, model: Model) -> Form | None:
        """The form with the least code, or None if there is none or it does not support this robot."""
        return self.smallest if self.smallest is not None and self.smallest.does(model) else None

    @property
    def all_forms(self) -> tuple[Form, ...]:
        """The forms that the row lists, followed by those over alike limbs."""
        return (*self.forms, *filter(None, (self.in_limbs, self.in_limb_loops)))

    @property
    def in_limbs(self) -> Form | None:
        """The form that computes alike limbs in the lanes of vectors, or None if no form can."""
        return self._of_limbs(LIMBS, "alike limbs as lanes")

    @property
    def in_limb_loops(self) -> Form | None:
        """The form that loops over alike limbs, or None if no form can."""
        arguments = (*self.signature.inputs, *self.signature.outputs)
        of_joints = all(x.kind in OF_JOINTS for x in arguments)
        return self._of_limbs(LIMB_LOOPS, "in loops over alike limbs") if of_joints else None

    def _of_limbs(self, name: str, how: str) -> Form | None:
        swept = next((form for form in self.forms if form.can_use_limbs and form.loops is None), None)
        arguments = (*self.signature.inputs, *self.signature.outputs)
        if swept is None or not all(x.can_be_by_limb for x in arguments):
            return None
        return replace(swept, name=name, source=f"{swept.source}; {how}", degrees="tree")

    def form(self, name: str) -> Form:
        """The form that has or had this name. Raises OptionError if there is none."""
        for form in self.all_forms:
            if name in (form.name, form.former_name):
                return form
        known = ", ".join(form.name for form in self.all_forms)
        raise OptionError(f"function '{self.name}' has no form '{name}'; choose from: {known}")

    def forms_for(self, model: Model) -> list[Form]:
        """The forms that are worth a trial for a robot. That of the textbook comes first."""
        return [form for form in self.forms if form.does(model) and form.worth_trying(model)]

    def form_for(self, model: Model, name: str) -> Form:
        """The form of this name. Raises OptionError if there is none or if it does not support this robot."""
        form = self.form(name)
        if not form.does(model):
            known = ", ".join(form.name for form in self.forms_for(model))
            raise OptionError(
                f"form '{name}' of '{self.name}' does not support mimic joints, which '{model.name}' has; "
                f"choose from: {known}"
            )
        read = self.held_by(model) if self.of_contacts else model.with_contacts(())
        reason = unlike_limbs(read) if name in (LIMBS, LIMB_LOOPS) else None
        if reason is not None:
            raise OptionError(
                f"form '{name}' of '{self.name}': '{model.name}' has no alike limbs, {reason}; leave it out"
            )
        return form

    def trace(self, form: Form, robot: Model | ReducedModel, x: State) -> Outputs:
        """Trace a form. The outputs are over the independent degrees of freedom."""
        robot = self.held_by(robot)
        model = robot if isinstance(robot, Model) else robot.model
        outputs = form.trace(robot, x)
        if form.degrees != "all" or model.coupling.is_trivial:
            return outputs
        return [
            folded(model, argument, output)
            for argument, output in zip(self.signature.outputs, outputs, strict=True)
        ]


@dataclass(frozen=True)
class Through:
    """Describes how a function is computed by means of another row."""

    row: str
    """The name of the other row, which has one output."""
    outputs: Callable[[Model, State, Callable[[State], Sequence[Scalar]]], Outputs]
    """Computes the outputs on a model, from the state and the other row."""


@dataclass(frozen=True)
class Differentiated:
    """Describes a function that is a derivative of another one along directions."""

    mode: str
    """The name of the derivative: "vjp", "jvp" or "hvp"."""
    of: Function
    """The function that is differentiated."""
    by: tuple[Argument, ...]
    """The inputs of `of` with respect to which it is differentiated."""
    inverse: Function | None
    """The inverse of `of`, if it has one."""
    coordinates: bool = False
    """Whether gradients with respect to q have nq elements. Otherwise they are in the tangent space."""

    @property
    def by_table(self) -> bool:
        """Whether it is taken with respect to the table of parameters, too."""
        return any(x.kind == "table" for x in self.by)

    def is_along(self, form: str) -> bool:
        """Whether this form is the function's own form along a direction."""
        return self.of.along is not None and form == self.of.along.name


@dataclass(frozen=True)
class Whole:
    """Describes a function that is a whole derivative of another one."""

    kind: str
    """The name of the derivative: "jacobian", "gradient" or "hessian"."""
    of: Function
    """The function that is differentiated."""
    by: tuple[Argument, ...]
    """The inputs of `of` with respect to which it is differentiated."""
    derivatives: Function | None = None
    """The row whose outputs are the same derivatives, for a Jacobian of a function that has such a row."""


@dataclass(frozen=True)
class Called:
    """The program of another function in the middle of a straight line, in the form that is chosen for it."""

    row: Function
    """The other function."""
    names: tuple[tuple[str, str], ...] = ()
    """Inputs and outputs of the other function, each with the name that the line uses instead."""


@dataclass(frozen=True)
class Around:
    """Describes a function that is a straight line around loops or around programs of other functions. All
    inputs and outputs of the line that these do not give or read are those of the function.
    """

    line: Function
    """The straight line. It has a form of the same name for each form of the function that is not for size.
    Forms for size take its cheapest form, and other loops.
    """
    inner: tuple[Inner | Called, ...]
    """The loops and programs in the order in which they run."""
    implicit: Implicit | None = None
    """Differentiates the loops, if the function has derivatives along directions."""


def products(matrices: Any, vectors: Any) -> Any:
    """The products of a matrix and a vector at every state."""
    return np.einsum("...ij,...j->...i", matrices, vectors)


def symmetric(upper: Any) -> Any:
    """The full symmetric matrix of an upper triangle. Pinocchio fills no more than this triangle."""
    return np.triu(upper) + np.triu(upper, 1).T
