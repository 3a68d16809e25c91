"""The rows of functions of closed loops. Only robots with closed loops have them.

Functions of independent velocities exist only for robots whose independent velocities were named.
"""

from __future__ import annotations

from collections.abc import Callable

from rbdgen.functions.arguments import Q, V
from rbdgen.functions.closed_loops.eliminated import (
    Eliminated,
    OfTree,
    loop_aba,
    loop_aba_embedded,
    loop_crba,
    loop_motion,
    loop_rnea,
)
from rbdgen.functions.closed_loops.relative_motion import loop_drift, loop_jacobian, loop_position
from rbdgen.functions.form import Form, Outputs, cheap, flat
from rbdgen.functions.function import Function, Identity
from rbdgen.functions.inertia_matrix import rows as inertia_matrix
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.needs import INDEPENDENT, LOOPS
from rbdgen.functions.resisting import resisting
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State


def _form(trace: Callable[[Model, State], Outputs]) -> Form:
    """The only form of a function of the kinematics of loops. It folds the columns of joints that follow
    others itself.
    """
    source = "frame 2 as seen from frame 1; Featherstone 2008, chapter 8"
    return Form("relative", source, trace, degrees="independent")


LOOP_POSITION = Function(
    Signature(
        "loop_position",
        (Q,),
        (
            Argument(
                "residual",
                "values",
                ("nloop",),
                "m, 1",
                "origin of frame 2 in frame 1, then sin(angle) axis of its rotation; 0 if closed",
            ),
        ),
    ),
    "position residual of closed loops, which is 0 if they are closed",
    (_form(lambda model, x: [loop_position(model, x.q, x.naming)]),),
    operations=lambda size: 130 * size.loops,
    needs=(LOOPS,),
)

LOOP_JACOBIAN = Function(
    Signature(
        "loop_jacobian",
        (Q,),
        (
            Argument(
                "Jc",
                "values",
                ("nloop", "nv"),
                "m, 1",
                "Jc v is the velocity of frame 2 relative to frame 1: linear, then angular",
            ),
        ),
    ),
    "Jacobian of closed loops: Jc v = 0",
    (_form(lambda model, x: [flat(loop_jacobian(model, x.q, x.naming))]),),
    operations=lambda size: 160 * size.loops,
    needs=(LOOPS,),
)

LOOP_DRIFT = Function(
    Signature(
        "loop_drift",
        (Q, V),
        (
            Argument(
                "drift",
                "values",
                ("nloop",),
                "m/s^2, rad/s^2",
                "acceleration of frame 2 relative to frame 1 at a = 0",
            ),
        ),
    ),
    "drift of closed loops: Jc a + drift = 0",
    (_form(lambda model, x: [loop_drift(model, x.q, x.v, x.naming)]),),
    operations=lambda size: 200 * size.loops,
    identities=(
        Identity(
            "loop drift at 2 v = 4 times that at v",
            ("loop_drift",),
            lambda call, x: (call("loop_drift", v=2 * x["v"]), 4 * call("loop_drift")),
        ),
    ),
    needs=(LOOPS,),
)


# ---- by independent velocities


def _independent(name: str, unit: str, meaning: str) -> Argument:
    return Argument(name, "values", ("nindependent",), unit, meaning)


V_I = _independent("v_i", "rad/s, m/s", "independent velocities, in the order of v")
A_I = _independent("a_i", "rad/s^2, m/s^2", "independent accelerations")
TAU_I = _independent("tau_i", "N m, N", "generalised forces of the independent velocities, G^T tau")

_RNEA, _CRBA = resisting(inverse_dynamics.RNEA), resisting(inertia_matrix.CRBA)
_TEXTBOOK = OfTree((_RNEA, _RNEA.form("newton_euler")), (_CRBA, _CRBA.form("composite")))
_CHEAP = OfTree((_RNEA, _RNEA.form("classical")), (_CRBA, _CRBA.form("moments")))


def _forms(trace: Callable[[OfTree, Model | ReducedModel, State], Outputs]) -> tuple[Form, ...]:
    """A form that uses the textbook's functions of the tree, and one that uses the cheap ones."""
    source = "dependent velocities eliminated; Featherstone 2008, chapters 3 and 8"
    return (
        Form("embedded", source, lambda model, x: trace(_TEXTBOOK, model, x), degrees="independent"),
        cheap(
            "moments",
            f"{source}; with mass moments",
            lambda reduced, x: trace(_CHEAP, reduced, x),
            "independent",
        ),
    )


LOOP_PROJECTION = Function(
    Signature(
        "loop_projection",
        (Q,),
        (Argument("G", "values", ("nv", "nindependent"), "1, m, 1/m", "v = G v_i in closed loops"),),
    ),
    "velocities of all joints from the independent ones: the matrix G of v = G v_i",
    (_form(lambda model, x: [flat(Eliminated(model, x).projection)]),),
    operations=lambda size: 200 * size.loops,
    needs=(INDEPENDENT,),
)

LOOP_MOTION = Function(
    Signature(
        "loop_motion",
        (Q, V_I, A_I),
        (
            Argument("v", "values", ("nv",), "rad/s, m/s", "velocities of all joints, G v_i"),
            Argument("a", "values", ("nv",), "rad/s^2, m/s^2", "accelerations of all joints"),
        ),
    ),
    "velocities and accelerations of all joints from the independent ones",
    (_form(loop_motion),),
    operations=lambda size: 280 * size.loops,
    identities=(
        Identity(
            "loop motion v = G v_i",
            ("loop_projection", "loop_motion"),
            lambda call, x: (
                call("loop_motion")[0],
                (call("loop_projection") @ x["v_i"][..., None])[..., 0],
            ),
        ),
    ),
    needs=(INDEPENDENT,),
)

LOOP_RNEA = Function(
    Signature("loop_rnea", (Q, V_I, A_I), (TAU_I,)),
    "inverse dynamics in closed loops, from v_i and a_i",
    _forms(lambda tree, robot, x: [loop_rnea(tree, robot, x, x.arrays["a_i"])]),
    operations=lambda size: _RNEA.operations(size) + 170 * size.loops,
    needs=(INDEPENDENT,),
)

LOOP_CRBA = Function(
    Signature(
        "loop_crba",
        (Q,),
        (
            Argument(
                "M_i",
                "values",
                ("nindependent", "nindependent"),
                "kg m^2, kg m, kg",
                "inertia matrix of the independent velocities, G^T M G",
                symmetric=(0, 1),
            ),
        ),
    ),
    "inertia matrix in closed loops, G^T M G",
    _forms(lambda tree, robot, x: [flat(loop_crba(tree, robot, x))]),
    operations=lambda size: _CRBA.operations(size) + 200 * size.loops,
    needs=(INDEPENDENT,),
)

LOOP_ABA = Function(
    Signature("loop_aba", (Q, V_I, TAU_I), (A_I,)),
    "forward dynamics in closed loops, from v_i and tau_i",
    (
        *_forms(lambda tree, robot, x: [loop_aba(tree, robot, x)]),
        cheap(
            "articulated",
            "articulated bodies, with closed loops embedded by G; Jain, Robot and Multibody Dynamics, 2011",
            lambda reduced, x: [loop_aba_embedded(reduced, x)],
            "independent",
        ),
    ),
    operations=lambda size: _RNEA.operations(size) + _CRBA.operations(size) + 100 * size.loops,
    identities=(
        Identity(
            "FD(ID(a)) = a in closed loops",
            ("loop_rnea", "loop_aba"),
            lambda call, x: (call("loop_aba", tau_i=call("loop_rnea")), x["a_i"]),
        ),
    ),
    needs=(INDEPENDENT,),
)

ROWS = (
    LOOP_POSITION,
    LOOP_JACOBIAN,
    LOOP_DRIFT,
    LOOP_PROJECTION,
    LOOP_MOTION,
    LOOP_RNEA,
    LOOP_CRBA,
    LOOP_ABA,
)
