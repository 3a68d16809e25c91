"""The table of functions: one row each. Command line, templates, loader, docs and tests iterate it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, get_args

from rbdgen.errors import OptionError
from rbdgen.functions.derivatives.columns import aba_derivatives_columns
from rbdgen.functions.derivatives.factored import Acceleration, Columns, aba_derivatives_factored
from rbdgen.functions.derivatives.forward import aba_derivatives
from rbdgen.functions.derivatives.forward_looped import aba_derivatives_looped
from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import OUTPUTS, derivatives, rnea_derivatives
from rbdgen.functions.forward_dynamics.articulated_body import aba
from rbdgen.functions.forward_dynamics.bias import aba_bias, forward_dynamics
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import minv_factored, minv_recursive
from rbdgen.functions.inertia_matrix.inverse_hybrid import minv_composite, minv_hybrid, minv_looped
from rbdgen.functions.inertia_matrix.moments import INERTIA_MATRIX, crba_composite
from rbdgen.functions.inverse_dynamics.classical import inverse_dynamics, rnea_classical
from rbdgen.functions.inverse_dynamics.newton_euler import gravity_torque, nonlinear_effects, rnea
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.signature import Argument, Signature
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import looped
from rbdgen.sweeps.loops import LoopedForm
from rbdgen.sweeps.sweep import Sweep

Outputs = Sequence[Sequence[Scalar]]
"""The elements of every output, row-major, in the order of the signature."""


@dataclass(frozen=True)
class Form:
    """One form of an algorithm: how it is named, where it is from, how it is traced.

    `reduced`: whether it is written for a `ReducedModel`; given a plain model it then reduces it first.
    `loops`: of a form that repeats straight lines; `trace` then runs them one after the other. `compact`:
    for the size of its code alone, never for its operations.
    """

    name: str
    source: str
    trace: Callable[[Any, State], Outputs]
    reduced: bool = False
    loops: Callable[[ReducedModel], LoopedForm] | None = None
    compact: bool = False


@dataclass(frozen=True)
class Function:
    """A row: the signature, one line of what it computes, and its forms, the first one the textbook's."""

    signature: Signature
    summary: str
    forms: tuple[Form, ...]

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def smallest(self) -> Form | None:
        """The form with the least code, None where there is none for that."""
        return next((form for form in self.forms if form.compact), None)

    def form(self, name: str) -> Form:
        """The form of this name; OptionError if there is none."""
        for form in self.forms:
            if form.name == name:
                return form
        known = ", ".join(form.name for form in self.forms)
        raise OptionError(f"function '{self.name}' has no form '{name}'; choose from: {known}")


Q = Argument("q", ("nq",), "rad, m", "joint positions; a floating base first: x y z, quaternion x y z w")
V = Argument(
    "v", ("nv",), "rad/s, m/s", "joint velocities; a floating base first: linear, angular, base axes"
)
A = Argument("a", ("nv",), "rad/s^2, m/s^2", "joint accelerations")
TAU = Argument("tau", ("nv",), "N m, N", "joint torques and forces")
FEXT = Argument(
    "fext", ("nbodies", 6), "N, N m", "external force on every moving body: force, moment, in its joint frame"
)


def _square(name: str, unit: str, meaning: str) -> Argument:
    return Argument(name, ("nv", "nv"), unit, meaning)


def _flat(matrix: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    return [value for row in matrix for value in row]


def _reduced(robot: Model | ReducedModel) -> ReducedModel:
    return reduce(robot) if isinstance(robot, Model) else robot


def _still(robot: Model | ReducedModel) -> list[Scalar]:
    model = robot if isinstance(robot, Model) else robot.model
    return [0] * model.nv


def _rnea(model: Model, x: State) -> Outputs:
    return [rnea(model, x.q, x.v, x.a, x.fext, x.naming)]


def _rnea_classical(robot: Model | ReducedModel, x: State) -> Outputs:
    return [rnea_classical(_reduced(robot), x.q, x.v, x.a, x.fext, x.naming)]


def _nle_classical(robot: Model | ReducedModel, x: State) -> Outputs:
    return [rnea_classical(_reduced(robot), x.q, x.v, _still(robot), naming=x.naming)]


def _gravity_classical(robot: Model | ReducedModel, x: State) -> Outputs:
    return [rnea_classical(_reduced(robot), x.q, _still(robot), _still(robot), naming=x.naming)]


def _aba(model: Model, x: State) -> Outputs:
    return [aba(model, x.q, x.v, x.tau, x.fext, x.naming)]


def _aba_bias(robot: Model | ReducedModel, x: State) -> Outputs:
    return [aba_bias(_reduced(robot), x.q, x.v, x.tau, x.fext, x.naming)]


def _rnea_derivatives_local(robot: Model | ReducedModel, x: State) -> Outputs:
    results = rnea_derivatives_local(_reduced(robot), x.q, x.v, x.a, naming=x.naming)
    return [_flat(matrix) for matrix in results[:3]]


def _rnea_derivatives(model: Model, x: State) -> Outputs:
    return [_flat(matrix) for matrix in rnea_derivatives(model, x.q, x.v, x.a, x.naming)[:3]]


def _aba_derivatives_factored(
    acceleration: Acceleration, columns: Columns
) -> Callable[[Any, State], Outputs]:
    def trace(robot: Model | ReducedModel, x: State) -> Outputs:
        results = aba_derivatives_factored(
            _reduced(robot), x.q, x.v, x.tau, naming=x.naming, acceleration=acceleration, columns=columns
        )
        return [_flat(matrix) for matrix in results]

    return trace


def _aba_derivatives(model: Model, x: State) -> Outputs:
    return [_flat(matrix) for matrix in aba_derivatives(model, x.q, x.v, x.tau, x.naming)]


def _in_loops(name: str, source: str, loops: Callable[[ReducedModel], LoopedForm]) -> Form:
    return Form(name, source, lambda robot, x: loops(_reduced(robot)).run(x), True, loops)


def _looped(source: str, loops: Callable[[ReducedModel], LoopedForm]) -> Form:
    return replace(_in_loops("looped", source, loops), compact=True)


def _sweeps(source: str, outputs: Sequence[str], *sweeps: Sweep) -> Form:
    def loops(reduced: ReducedModel) -> LoopedForm:
        return looped(reduced, outputs, *sweeps)

    return _looped(source, loops)


RNEA_FORMS = (
    Form("newton_euler", "Featherstone 2008, table 5.1", _rnea),
    Form("classical", "classical accelerations, mass moments; Luh, Walker, Paul 1980", _rnea_classical, True),
)
ABA_FORMS = (
    Form("articulated", "Featherstone 2008, table 7.1", _aba),
    Form("bias", "bias forces of inverse dynamics at qdd = 0, mass moments", _aba_bias, True),
)

_ROWS: Final = (
    Function(
        Signature("rnea", (Q, V, A), (TAU,)),
        "inverse dynamics, tau = ID(q, v, a)",
        (*RNEA_FORMS, _sweeps("the classical form in loops over bodies", ("tau",), *inverse_dynamics())),
    ),
    Function(
        Signature("nle", (Q, V), (TAU,)),
        "nonlinear effects, C(q, v) v + g(q)",
        (
            Form(
                "newton_euler",
                "Featherstone 2008, table 5.1 at qdd = 0",
                lambda model, x: [nonlinear_effects(model, x.q, x.v, x.naming)],
            ),
            Form("classical", "as RNEA's, at qdd = 0", _nle_classical, True),
            _sweeps("as RNEA's, at qdd = 0", ("tau",), *inverse_dynamics(accelerated=False)),
        ),
    ),
    Function(
        Signature("gravity", (Q,), (TAU,)),
        "gravity torques, g(q)",
        (
            Form(
                "newton_euler",
                "Featherstone 2008, table 5.1 at rest",
                lambda model, x: [gravity_torque(model, x.q, x.naming)],
            ),
            Form("classical", "as RNEA's, at rest", _gravity_classical, True),
            _sweeps("as RNEA's, at rest", ("tau",), *inverse_dynamics(moving=False, accelerated=False)),
        ),
    ),
    Function(
        Signature("aba", (Q, V, TAU), (A,)),
        "forward dynamics, a = FD(q, v, tau)",
        (*ABA_FORMS, _sweeps("the bias form in loops over bodies", ("a",), *forward_dynamics())),
    ),
    Function(
        Signature("crba", (Q,), (_square("M", "kg m^2, kg m, kg", "joint-space inertia matrix"),)),
        "joint-space inertia matrix M(q), full symmetric",
        (
            Form(
                "composite",
                "Featherstone 2008, table 6.2",
                lambda model, x: [_flat(crba(model, x.q, x.naming))],
            ),
            Form(
                "moments",
                "composite mass moments; Khalil and Dombre 2002, ch. 9",
                lambda robot, x: [_flat(crba_composite(_reduced(robot), x.q, x.naming))],
                True,
            ),
            _sweeps("the same in loops over bodies and pairs of them", ("M",), *INERTIA_MATRIX),
        ),
    ),
    Function(
        Signature("minv", (Q,), (_square("Minv", "1/(kg m^2), 1/(kg m), 1/kg", "inverse of M"),)),
        "inverse of the joint-space inertia matrix, full symmetric",
        (
            Form(
                "recursive",
                "Carpentier, LAAS 2018, corrected",
                lambda model, x: [_flat(minv_recursive(model, x.q, x.naming))],
            ),
            Form(
                "factored",
                "CRBA and sparse L^T D L, Featherstone 2008, section 6.5",
                lambda model, x: [_flat(minv_factored(model, x.q, x.naming))],
            ),
            Form(
                "moments",
                "CRBA by composite mass moments and sparse L^T D L",
                lambda robot, x: [_flat(minv_composite(_reduced(robot), x.q, x.naming))],
                True,
            ),
            Form(
                "hybrid",
                "the articulated inward pass as a factorisation, Minv = W D^-1 W^T",
                lambda robot, x: [_flat(minv_hybrid(_reduced(robot), x.q, x.naming))],
                True,
            ),
            _looped(
                "as hybrid, factored in loops over bodies, one product run for every column",
                minv_looped,
            ),
        ),
    ),
    Function(
        Signature(
            "rnea_derivatives",
            (Q, V, A),
            (
                _square("dtau_dq", "N m/rad, N/m", "dID/dq, in the tangent space of q"),
                _square("dtau_dv", "N m s/rad, N s/m", "dID/dv"),
                _square("dtau_da", "kg m^2, kg m, kg", "dID/da = M"),
            ),
        ),
        "analytical derivatives of inverse dynamics",
        (
            Form("one_frame", "Singh, Russell, Wensing, RA-L 2022", _rnea_derivatives),
            Form("local", "the same in the bodies' own axes, mass moments", _rnea_derivatives_local, True),
            _sweeps("one_frame in loops over bodies and pairs of freedoms", OUTPUTS, *derivatives()),
        ),
    ),
    Function(
        Signature(
            "aba_derivatives",
            (Q, V, TAU),
            (
                _square("da_dq", "1/s^2, m/s^2/rad", "dFD/dq, in the tangent space of q"),
                _square("da_dv", "1/s, m/s/rad", "dFD/dv"),
                _square("da_dtau", "1/(kg m^2), 1/(kg m), 1/kg", "dFD/dtau = M^-1"),
            ),
        ),
        "analytical derivatives of forward dynamics",
        (
            Form("product", "Carpentier and Mansard, RSS 2018, eq. 24", _aba_derivatives),
            *(
                Form(
                    f"{acceleration}_{columns}",
                    f"eq. 24 on mass moments: qdd by the {acceleration} form, columns by the {columns}",
                    _aba_derivatives_factored(acceleration, columns),
                    reduced=True,
                )
                for acceleration in get_args(Acceleration)
                for columns in get_args(Columns)
            ),
            _in_loops(
                "columns",
                "eq. 24 on mass moments, one sparse product W D^-1 W^T run for every column",
                aba_derivatives_columns,
            ),
            _looped("eq. 24 of the looped forms of aba, rnea_derivatives and minv", aba_derivatives_looped),
        ),
    ),
    Function(
        Signature("rnea_fext", (Q, V, A, FEXT), (TAU,)),
        "inverse dynamics with external forces",
        (
            *RNEA_FORMS,
            _sweeps("the classical form in loops over bodies", ("tau",), *inverse_dynamics(external=True)),
        ),
    ),
    Function(
        Signature("aba_fext", (Q, V, TAU, FEXT), (A,)),
        "forward dynamics with external forces",
        (
            *ABA_FORMS,
            _sweeps("the bias form in loops over bodies", ("a",), *forward_dynamics(external=True)),
        ),
    ),
)

CATALOGUE: Final[Mapping[str, Function]] = MappingProxyType({row.name: row for row in _ROWS})

DEFAULT_FUNCTIONS: Final = ("rnea", "aba", "crba", "minv", "rnea_derivatives", "aba_derivatives")


def lookup(name: str) -> Function:
    """The row of this name; OptionError if there is none."""
    try:
        return CATALOGUE[name]
    except KeyError:
        raise OptionError(f"unknown function '{name}'; choose from: {', '.join(CATALOGUE)}") from None
