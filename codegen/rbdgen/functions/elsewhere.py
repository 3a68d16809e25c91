"""The names of functions in other libraries, for error messages about unknown names and for docs/names.md.

The entries are looked up by the other library's names. A name may stand for several functions of rbdgen, and
a function for several names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple


class Names(NamedTuple):
    """Names of another library, and the functions of rbdgen that do the same.

    `theirs` are names in the other library. `ours` are names of functions of rbdgen, where `frame_jacobian_x`
    stands for the three conventions, or of other calls, which have a dot, such as `lib.random`. `remark`
    states differences.
    """

    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    remark: str = ""


PINOCCHIO: Final = (
    Names(("rnea",), ("rnea",)),
    Names(("aba",), ("aba",)),
    Names(("crba",), ("crba",)),
    Names(("computeMinverse",), ("minv",)),
    Names(("nonLinearEffects",), ("nle",)),
    Names(("computeGeneralizedGravity",), ("gravity",)),
    Names(("computeStaticTorque",), ("rnea_fext",), "at v = a = 0"),
    Names(("computeCoriolisMatrix", "getCoriolisMatrix"), ("coriolis",)),
    Names(("computeAllTerms",), ("crba", "nle", "gravity"), "generate only those that are needed"),
    Names(("computeRNEADerivatives",), ("rnea_derivatives",)),
    Names(("computeABADerivatives",), ("aba_derivatives",)),
    Names(("ComputeRNEASecondOrderDerivatives",), ("rnea_second",)),
    Names(("computeGeneralizedGravityDerivatives",), ("gravity_jvp", "rnea_derivatives")),
    Names(("forwardKinematics", "framesForwardKinematics", "updateFramePlacements"), ("frame_placement",)),
    Names(("getFrameVelocity", "getVelocity"), ("frame_velocity_x",)),
    Names(("getFrameAcceleration", "getAcceleration"), ("frame_acceleration_x",)),
    Names(("getFrameClassicalAcceleration", "getClassicalAcceleration"), ("frame_classical_acceleration_x",)),
    Names(
        (
            *("getFrameJacobian", "computeFrameJacobian", "getJointJacobian"),
            *("computeJointJacobian", "computeJointJacobians"),
        ),
        ("frame_jacobian_x",),
        "a joint's name is a frame too",
    ),
    Names(
        ("getFrameJacobianTimeVariation", "frameJacobianTimeVariation", "computeJointJacobiansTimeVariation"),
        ("frame_jacobian_rate_x",),
    ),
    Names(
        ("getJointKinematicHessian", "computeJointKinematicHessians"),
        ("frame_jacobian_derivatives_x",),
        "a joint's name is a frame too",
    ),
    Names(("getFrameVelocityDerivatives",), ("frame_velocity_derivatives_x",)),
    Names(("getFrameAccelerationDerivatives",), ("frame_acceleration_derivatives_x",)),
    Names(("centerOfMass",), ("com", "com_velocity", "com_acceleration")),
    Names(("jacobianCenterOfMass",), ("com_jacobian",)),
    Names(("computeKineticEnergy",), ("kinetic_energy",)),
    Names(("computePotentialEnergy",), ("potential_energy",)),
    Names(("computeMechanicalEnergy",), ("kinetic_energy", "potential_energy"), "their sum"),
    Names(("ccrba", "computeCentroidalMap"), ("centroidal_matrix",)),
    Names(("dccrba", "computeCentroidalMapTimeVariation"), ("centroidal_matrix_rate",)),
    Names(("computeCentroidalMomentum",), ("centroidal_momentum",)),
    Names(("computeJointTorqueRegressor",), ("regressor",)),
    Names(("computeKineticEnergyRegressor",), ("kinetic_regressor",)),
    Names(("computePotentialEnergyRegressor",), ("potential_regressor",)),
    Names(("forwardDynamics", "constraintDynamics"), ("contact_aba",)),
    Names(("computeConstraintDynamicsDerivatives",), ("contact_aba_derivatives",)),
    Names(("impulseDynamics",), ("contact_impulse",)),
    Names(("integrate",), ("integrate",)),
    Names(("difference",), ("difference",)),
    Names(("dIntegrate",), ("integrate_derivatives",)),
    Names(("dDifference",), ("difference_derivatives",)),
    Names(("neutral",), ("lib.neutral",)),
    Names(("randomConfiguration",), ("lib.random",), "limits of joints are not used"),
    Names(("normalize",), ("lib.normalize",)),
)

MUJOCO: Final = (
    Names(("mj_inverse",), ("rnea",), "linear velocities of MuJoCo's free joints are in world axes"),
    Names(("mj_rne",), ("nle",)),
    Names(("mj_fwdAcceleration", "mj_forward"), ("aba", "contact_aba"), "contacts are chosen, not detected"),
    Names(("mj_crb", "mj_fullM"), ("crba",)),
    Names(("mj_solveM",), ("minv",), "then multiply it by the vector"),
    Names(("mj_kinematics",), ("frame_placement",)),
    Names(
        ("mj_jac", "mj_jacBody", "mj_jacSite"),
        ("frame_jacobian_aligned",),
        "frames are chosen in `load_robot`",
    ),
    Names(("mj_jacDot",), ("frame_jacobian_rate_aligned",)),
    Names(("mj_objectVelocity",), ("frame_velocity_x",)),
    Names(("mj_objectAcceleration",), ("frame_acceleration_x",), "without gravity"),
    Names(("mj_jacSubtreeCom",), ("com_jacobian",), "of the whole robot"),
    Names(("mj_comPos",), ("com",)),
    Names(("mj_subtreeVel",), ("com_velocity", "centroidal_momentum")),
    Names(("mj_angmomMat",), ("centroidal_matrix",)),
    Names(("mj_energyPos",), ("potential_energy",)),
    Names(("mj_energyVel",), ("kinetic_energy",)),
    Names(("mj_step", "mj_Euler"), ("step",), "semi-implicit"),
    Names(("mj_RungeKutta",), ("step_rk4",)),
    Names(("mj_integratePos",), ("integrate",)),
    Names(("mj_differentiatePos",), ("difference",)),
    Names(("mjd_transitionFD",), ("step_derivatives",), "exact, not by finite differences"),
    Names(("mjd_inverseFD",), ("rnea_derivatives",), "exact, not by finite differences"),
)

WORDS: Final = (
    Names(("inverse_dynamics", "id", "newton_euler"), ("rnea",)),
    Names(("forward_dynamics", "fd", "articulated_body"), ("aba",)),
    Names(("mass_matrix", "inertia_matrix", "M"), ("crba",)),
    Names(("bias", "bias_forces", "qfrc_bias", "nonlinear_effects"), ("nle",)),
    Names(("forward_kinematics", "fk", "kinematics", "frame_pose"), ("frame_placement",)),
    Names(("jacobian", "geometric_jacobian", "frame_jacobian", "jac"), ("frame_jacobian_x",)),
    Names(("center_of_mass", "centre_of_mass"), ("com",)),
    Names(("centroidal_momentum_matrix", "cmm"), ("centroidal_matrix",)),
    Names(
        ("operational_space_inertia", "task_space_inertia", "osim", "lambda", "Lambda"), ("frame_inertia_x",)
    ),
    Names(("operational_space_bias", "task_space_bias"), ("frame_bias_x",)),
    Names(("kinematic_hessian", "jacobian_derivative"), ("frame_jacobian_derivatives_x",)),
    Names(("inverse_kinematics", "ik", "ik_step"), ("frame_ik_step",)),
    Names(("generalized_momentum", "momentum_observer", "disturbance_observer"), ("joint_momentum",)),
    Names(
        ("generalized_inertia_matrix", "free_floating_dynamics"),
        ("crba_free_base", "nle_free_base", "rnea_free_base"),
    ),
    Names(("dynamics_derivatives",), ("rnea_derivatives", "aba_derivatives")),
    Names(("simulate", "simulation", "semi_implicit_euler"), ("step",)),
    Names(("rk4", "runge_kutta"), ("step_rk4",)),
    Names(("rollout",), ("step",), "then `lib.rollout`"),
    Names(("energy",), ("kinetic_energy", "potential_energy")),
)
"""Common names of functions in books and in conversation."""

_LIBRARIES: Final = (("Pinocchio", PINOCCHIO), ("MuJoCo", MUJOCO), ("", WORDS))


def elsewhere(name: str) -> str | None:
    """A hint that names the functions of rbdgen that do the same as this function of another library, or None
    for an unknown name.
    """
    for library, rows in _LIBRARIES:
        for row in rows:
            if name in row.theirs:
                found = ", ".join(map(repr, meant(row)))
                return f"{library}'s {name} is {found} here" if library else f"did you mean {found}?"
    return None


def page() -> str:
    """The text of docs/names.md."""
    lines = [
        "# Names in Pinocchio and MuJoCo",
        "",
        "The functions of each row do the same. Errors about unknown functions use these tables as well. x",
        "is `local`, `aligned` or `world`: Pinocchio's LOCAL, LOCAL_WORLD_ALIGNED and WORLD. Frames and",
        "contacts are chosen when a robot is loaded: `load_robot(path, frames=[...], contacts=[...])`.",
    ]
    for library, rows in _LIBRARIES[:2]:
        lines += ["", f"## {library}", "", f"| {library} | rbdgen | |", "|---|---|---|"]
        lines += map(_line, rows)
    return "\n".join(lines) + "\n"


def _line(row: Names) -> str:
    theirs, ours = (", ".join(f"`{name}`" for name in names) for names in (row.theirs, row.ours))
    return f"| {theirs} | {ours} | {row.remark} |".replace("|  |", "| |")


def meant(row: Names) -> Iterator[str]:
    """The complete names of a row's functions of rbdgen."""
    for name in row.ours:
        if name.endswith("_x"):
            yield from (name[:-1] + x for x in ("local", "aligned", "world"))
        elif "." not in name:
            yield name
        else:
            yield f"{name}()"
