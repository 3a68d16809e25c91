"""The rows of energy, of the centre of mass, and of centroidal momentum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from rbdgen.functions.arguments import A, Q, V
from rbdgen.functions.form import Form, Outputs, cheap, flat, swept, swept_in_loops
from rbdgen.functions.function import Call, Function, Identity, products, symmetric
from rbdgen.functions.momentum import in_the_world, subtrees
from rbdgen.functions.momentum.energy import KINETIC, POTENTIAL, kinetic_energy, potential_energy
from rbdgen.functions.momentum.joint_space import JOINT_MOMENTUM, joint_momentum
from rbdgen.functions.resistance import Added, against, rotor_energy, rotor_momentum, spring_energy
from rbdgen.model.reduce import ReducedModel
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State


def _pinocchio_kinetic_energy(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    """The kinetic energy. The part of the rotors is added here, because Pinocchio 4.1 leaves out rotors of
    helical joints.
    """
    armature = model.armature.copy()
    model.armature = 0 * armature
    bodies = pin.computeKineticEnergy(model, data, x["q"], x["v"])
    model.armature = armature
    return bodies + armature @ x["v"] ** 2 / 2


def _columns(matrix: Any, rows: int = 6) -> Any:
    """The result of Pinocchio as a matrix; it returns a single column as a vector."""
    return np.reshape(matrix, (rows, -1))


_ABOUT_C = "linear, then angular about the centre of mass, world axes"


def _pinocchio_joint_momentum(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """M v, and C^T v - g less the torques of damping, friction and springs."""
    M, C = pin.crba(model, data, x["q"]), pin.computeCoriolisMatrix(model, data, x["q"], x["v"])
    M, C = symmetric(M.copy()), C.copy()
    g = pin.computeGeneralizedGravity(model, data, x["q"])
    return M @ x["v"], C.T @ x["v"] - g - x["resistance"].torque


def _vector(name: str, unit: str, meaning: str) -> Argument:
    return Argument(name, "values", (3,), unit, meaning)


def _linear_rows(call: Call, _: object) -> tuple[Any, Any]:
    """Both sides of: the linear rows of the centroidal momentum matrix = mass times Jcom."""
    linear, J = call("centroidal_matrix")[:, :3], call("com_jacobian")
    return linear, _mass(linear, J) * J


def _mass(linear: Any, J: Any) -> float:
    """The mass m for which the `linear` rows are m J, by least squares; 0 if J is 0."""
    squared = float((J * J).sum())
    return float((linear * J).sum()) / squared if squared else 0.0


def _force(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    """Both sides of: the linear rows of dh_g/dt = mass times the acceleration of the centre of mass. The mass
    comes from `_mass`.
    """
    Ag, J = call("centroidal_matrix"), call("com_jacobian")
    rate = products(Ag, x["a"]) + products(call("centroidal_matrix_rate"), x["v"])
    return rate[:, :3], _mass(Ag[:, :3], J) * call("com_acceleration")


def _traced(algorithm: Callable[..., Any], inputs: str) -> Callable[[Any, State], Outputs]:
    """A trace of an algorithm that takes these inputs, one letter each, and returns a vector or rows."""

    def trace(robot: Any, x: State) -> Outputs:
        found = algorithm(robot, *(getattr(x, name) for name in inputs), naming=x.naming)
        return [flat(found) if isinstance(found[0], list) else found]

    return trace


def _of_subtrees(name: str, source: str, algorithm: Callable[..., Any], inputs: str) -> Form:
    """A form in the bodies' axes, in which alike limbs may be lanes."""

    def trace(reduced: ReducedModel, x: State) -> Outputs:
        return _traced(partial(algorithm, lanes=x.lanes), inputs)(reduced, x)

    return cheap(name, source, trace, can_use_limbs=True)


def _forms(textbook: Callable[..., Any], cheaper: Callable[..., Any], inputs: str) -> tuple[Form, Form]:
    """The textbook's form in world axes and the cheaper one in the bodies' axes; `inputs` has one letter
    each."""
    return (
        Form("world_axes", "sums in world axes; Wensing and Orin 2016", _traced(textbook, inputs)),
        _of_subtrees("moments", "the same in the bodies' own axes, with mass moments", cheaper, inputs),
    )


KINETIC_ENERGY = Function(
    Signature("kinetic_energy", (Q, V), (Argument("T", "scalar", (), "J", "kinetic energy"),)),
    "kinetic energy, v^T M v / 2",
    (
        Form(
            "bodies",
            "Featherstone 2008, section 2.13",
            lambda model, x: [[kinetic_energy(model, x.q, x.v, x.naming)]],
        ),
        swept("moments", "the same with mass moments", ("T",), (KINETIC,)),
        swept_in_loops("the same in a loop over bodies", ("T",), (KINETIC,)),
    ),
    operations=lambda size: 152 * size.bodies,
    pinocchio=_pinocchio_kinetic_energy,
    resistance=(Added("T", rotor_energy),),
    identities=(
        Identity(
            "v^T M v / 2 = T",
            ("crba", "kinetic_energy"),
            lambda call, x: (
                np.einsum("ki,kij,kj->k", x["v"], call("crba"), x["v"]) / 2,
                call("kinetic_energy"),
            ),
        ),
    ),
)

POTENTIAL_ENERGY = Function(
    Signature(
        "potential_energy",
        (Q,),
        (Argument("U", "scalar", (), "J", "potential energy; gravity's is 0 at the world's origin"),),
    ),
    "potential energy of gravity and springs",
    (
        Form(
            "bodies",
            "the sum of -m g . c",
            lambda model, x: [[potential_energy(model, x.q, x.naming)]],
        ),
        swept("moments", "the same with mass moments and a constant", ("U",), (POTENTIAL,)),
        swept_in_loops("the same in a loop over bodies", ("U",), (POTENTIAL,)),
    ),
    operations=lambda size: 91 * size.bodies,
    pinocchio=lambda pin, model, data, x: (
        pin.computePotentialEnergy(model, data, x["q"]) + x["resistance"].energy
    ),
    resistance=(Added("U", spring_energy),),
)

MOMENTUM = Function(
    Signature(
        "joint_momentum",
        (Q, V),
        (
            Argument("p", "force", ("nv",), "N m s, N s", "M v, the momentum of the joints"),
            Argument(
                "dp", "force", ("nv",), "N m, N", "C^T v - g, less damping and friction: dp/dt is dp + tau"
            ),
        ),
    ),
    "momentum p = M v of the joints, and its rate C^T v - g at tau = 0; dp/dt = C^T v - g + tau",
    (
        Form("spatial", "De Luca et al., IROS 2006, eq. 5-9, by momenta of subtrees", joint_momentum),
        swept("moments", "the same in the bodies' own axes, with mass moments", ("p", "dp"), JOINT_MOMENTUM),
        swept_in_loops("the same in loops over bodies", ("p", "dp"), JOINT_MOMENTUM),
    ),
    operations=lambda size: 300 * size.bodies,
    pinocchio=_pinocchio_joint_momentum,
    resistance=(Added("p", rotor_momentum), Added("dp", against)),
    identities=(
        Identity(
            "p = M v",
            ("crba", "joint_momentum"),
            lambda call, x: (products(call("crba"), x["v"]), call("joint_momentum")[0]),
        ),
        Identity(
            "v . p / 2 = T",
            ("kinetic_energy", "joint_momentum"),
            lambda call, x: (
                np.einsum("ki,ki->k", x["v"], call("joint_momentum")[0]) / 2,
                call("kinetic_energy"),
            ),
        ),
    ),
)

COM = Function(
    Signature("com", (Q,), (_vector("c", "m", "centre of mass of all moving bodies, world axes"),)),
    "centre of mass of all moving bodies",
    _forms(in_the_world.com, subtrees.com, "q"),
    operations=lambda size: 147 * size.bodies,
    pinocchio=lambda pin, model, data, x: pin.centerOfMass(model, data, x["q"]),
)

COM_VELOCITY = Function(
    Signature("com_velocity", (Q, V), (_vector("dc", "m/s", "velocity of the centre of mass, world axes"),)),
    "velocity of the centre of mass",
    _forms(in_the_world.com_velocity, subtrees.com_velocity, "qv"),
    operations=lambda size: 196 * size.bodies,
    pinocchio=lambda pin, model, data, x: (
        pin.centerOfMass(model, data, x["q"], x["v"]),
        data.vcom[0],
    )[1],
)

COM_ACCELERATION = Function(
    Signature(
        "com_acceleration",
        (Q, V, A),
        (_vector("ddc", "m/s^2", "acceleration of the centre of mass, world axes"),),
    ),
    "acceleration of the centre of mass",
    _forms(in_the_world.com_acceleration, subtrees.com_acceleration, "qva"),
    operations=lambda size: 285 * size.bodies,
    pinocchio=lambda pin, model, data, x: (
        pin.centerOfMass(model, data, x["q"], x["v"], x["a"]),
        data.acom[0],
    )[1],
)

COM_JACOBIAN = Function(
    Signature(
        "com_jacobian",
        (Q,),
        (
            Argument(
                "Jcom", "columns", (3, "nv"), "m, 1", "Jcom v: velocity of the centre of mass, in world axes"
            ),
        ),
    ),
    "Jacobian of the centre of mass",
    (
        *_forms(in_the_world.com_jacobian, subtrees.com_jacobian, "q"),
        _of_subtrees(
            "carried",
            "as moments, with columns rotated from body to body",
            partial(subtrees.com_jacobian, carried=True),
            "q",
        ),
    ),
    operations=lambda size: 188 * size.bodies,
    pinocchio=lambda pin, model, data, x: _columns(pin.jacobianCenterOfMass(model, data, x["q"]), 3),
    identities=(
        Identity(
            "Jcom v = dc/dt",
            ("com_jacobian", "com_velocity"),
            lambda call, x: (products(call("com_jacobian"), x["v"]), call("com_velocity")),
        ),
        Identity(
            "Jcom a is the part of the acceleration of the centre of mass that depends on a",
            ("com_jacobian", "com_acceleration"),
            lambda call, x: (
                products(call("com_jacobian"), x["a"]),
                call("com_acceleration") - call("com_acceleration", a=0 * x["a"]),
            ),
        ),
    ),
)

CENTROIDAL_MATRIX = Function(
    Signature(
        "centroidal_matrix",
        (Q,),
        (Argument("Ag", "columns", (6, "nv"), "kg, kg m, kg m^2", f"h_g = A_g v; {_ABOUT_C}"),),
    ),
    "centroidal momentum matrix A_g: h_g = A_g v",
    _forms(in_the_world.centroidal_matrix, subtrees.centroidal_matrix, "q"),
    operations=lambda size: 333 * size.bodies,
    pinocchio=lambda pin, model, data, x: _columns(pin.computeCentroidalMap(model, data, x["q"])),
    identities=(
        Identity("linear rows of Ag = mass Jcom", ("com_jacobian", "centroidal_matrix"), _linear_rows),
    ),
)

CENTROIDAL_MATRIX_RATE = Function(
    Signature(
        "centroidal_matrix_rate",
        (Q, V),
        (Argument("dAg", "columns", (6, "nv"), "kg/s, kg m/s, kg m^2/s", f"dA_g/dt; {_ABOUT_C}"),),
    ),
    "rate dA_g/dt of the centroidal momentum matrix: dh_g/dt = A_g a + dA_g/dt v",
    _forms(in_the_world.centroidal_matrix_rate, subtrees.centroidal_matrix_rate, "qv"),
    operations=lambda size: 530 * size.bodies,
    # Pinocchio's computeCentroidalMapTimeVariation uses the velocity of c of an earlier call, at another
    # state.
    pinocchio=lambda pin, model, data, x: _columns(pin.dccrba(model, data, x["q"], x["v"])),
    identities=(
        Identity(
            "linear rows of Ag a + dAg v = mass times the acceleration of the centre of mass",
            ("com_jacobian", "com_acceleration", "centroidal_matrix", "centroidal_matrix_rate"),
            _force,
        ),
    ),
)

CENTROIDAL_MOMENTUM = Function(
    Signature(
        "centroidal_momentum",
        (Q, V),
        (Argument("hg", "values", (6,), "N s, N m s", f"momentum, {_ABOUT_C}"),),
    ),
    "centroidal momentum h_g, about the centre of mass",
    _forms(in_the_world.centroidal_momentum, subtrees.centroidal_momentum, "qv"),
    operations=lambda size: 326 * size.bodies,
    pinocchio=lambda pin, model, data, x: pin.computeCentroidalMomentum(model, data, x["q"], x["v"]).vector,
    identities=(
        Identity(
            "Ag v = hg",
            ("centroidal_matrix", "centroidal_momentum"),
            lambda call, x: (products(call("centroidal_matrix"), x["v"]), call("centroidal_momentum")),
        ),
    ),
)

ROWS = (
    KINETIC_ENERGY,
    POTENTIAL_ENERGY,
    MOMENTUM,
    COM,
    COM_VELOCITY,
    COM_ACCELERATION,
    COM_JACOBIAN,
    CENTROIDAL_MATRIX,
    CENTROIDAL_MATRIX_RATE,
    CENTROIDAL_MOMENTUM,
)
