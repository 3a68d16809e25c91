"""The rows of inverse dynamics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rbdgen.functions.arguments import FEXT, TAU, A, Q, V
from rbdgen.functions.form import Form, Outputs, cheap, swept, swept_in_loops
from rbdgen.functions.function import Function, Identity, Through
from rbdgen.functions.inverse_dynamics.along import torque_rates
from rbdgen.functions.inverse_dynamics.classical import inverse_dynamics
from rbdgen.functions.inverse_dynamics.newton_euler import gravity_torque, nonlinear_effects, rnea
from rbdgen.functions.resistance import Added, rotor_torque, spring, torque
from rbdgen.model.model import Model
from rbdgen.signature import Signature
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.sweep import Sweep


def _forms(
    textbook: str, trace: Callable[[Model, State], Outputs], source: str, sweeps: Sequence[Sweep]
) -> tuple[Form, ...]:
    return (
        Form("newton_euler", textbook, trace),
        swept("classical", source, ("tau",), sweeps),
        swept_in_loops(f"{source}; in loops over bodies", ("tau",), sweeps),
    )


def _rnea(external: bool) -> tuple[Form, ...]:
    return _forms(
        "Featherstone 2008, table 5.1",
        lambda model, x: [rnea(model, x.q, x.v, x.a, x.fext, x.naming)],
        "classical accelerations and mass moments; Luh, Walker, Paul 1980",
        inverse_dynamics(external=external),
    )


ALONG = cheap(
    "own_axes",
    "changes of motions and forces in the bodies' own axes, with mass moments",
    lambda reduced, x: [torque_rates(reduced, x)],
    "independent",
    can_use_limbs=True,
)

RESISTED = (Added("tau", torque), Added("tau", rotor_torque))

RNEA = Function(
    Signature("rnea", (Q, V, A), (TAU,)),
    "inverse dynamics, tau = ID(q, v, a)",
    _rnea(external=False),
    operations=lambda size: 340 * size.bodies,
    pinocchio=lambda pin, model, data, x: (
        pin.rnea(model, data, x["q"], x["v"], x["a"]) + x["resistance"].torque
    ),
    resistance=RESISTED,
    along=ALONG,
)


def _without_acceleration(model: Model, x: State, rnea: Callable[[State], Sequence[Scalar]]) -> Outputs:
    """Inverse dynamics without acceleration, and at rest if the function has no velocity."""
    zeros = [0] * model.sizes["nv"]
    return [rnea(replace(x, v=x.v or zeros, a=zeros))]


NLE = Function(
    Signature("nle", (Q, V), (TAU,)),
    "nonlinear effects, C(q, v) v + g(q)",
    _forms(
        "Featherstone 2008, table 5.1 at qdd = 0",
        lambda model, x: [nonlinear_effects(model, x.q, x.v, x.naming)],
        "as in rnea, at qdd = 0",
        inverse_dynamics(accelerated=False),
    ),
    operations=lambda size: 320 * size.bodies,
    pinocchio=lambda pin, model, data, x: (
        pin.nonLinearEffects(model, data, x["q"], x["v"]) + x["resistance"].torque
    ),
    resistance=(Added("tau", torque),),
    identities=(
        Identity(
            "ID(q, v, 0) = nle",
            ("rnea", "nle"),
            lambda call, x: (call("rnea", a=0 * x["a"]), call("nle")),
        ),
    ),
    through=Through("rnea", _without_acceleration),
    along=ALONG,
)

GRAVITY = Function(
    Signature("gravity", (Q,), (TAU,)),
    "gravity torques, g(q)",
    _forms(
        "Featherstone 2008, table 5.1 at rest",
        lambda model, x: [gravity_torque(model, x.q, x.naming)],
        "as in rnea, at rest",
        inverse_dynamics(moving=False, accelerated=False),
    ),
    operations=lambda size: 145 * size.bodies,
    pinocchio=lambda pin, model, data, x: (
        pin.computeGeneralizedGravity(model, data, x["q"]) + x["resistance"].spring
    ),
    resistance=(Added("tau", spring),),
    through=Through("rnea", _without_acceleration),
    along=ALONG,
)

RNEA_FEXT = Function(
    Signature("rnea_fext", (Q, V, A, FEXT), (TAU,)),
    "inverse dynamics with external forces",
    _rnea(external=True),
    operations=lambda size: 350 * size.bodies,
    pinocchio=lambda pin, model, data, x: (
        pin.rnea(model, data, x["q"], x["v"], x["a"], x["fext"]) + x["resistance"].torque
    ),
    resistance=RESISTED,
    along=ALONG,
)

ROWS = (RNEA, NLE, GRAVITY, RNEA_FEXT)
