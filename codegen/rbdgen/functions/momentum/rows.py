"""The functions of energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdgen.functions.function import Form, Function, Identity, Q, V, swept, swept_in_loops
from rbdgen.functions.momentum.energy import KINETIC, POTENTIAL, kinetic_energy, potential_energy
from rbdgen.functions.resistance import Added, rotor_energy, spring_energy
from rbdgen.signature import Argument, Signature


def _pinocchio_kinetic_energy(pin: Any, model: Any, data: Any, x: Mapping[str, Any]) -> Any:
    """Rotors apart: Pinocchio 4.1 leaves out those of helical joints."""
    armature = model.armature.copy()
    model.armature = 0 * armature
    bodies = pin.computeKineticEnergy(model, data, x["q"], x["v"])
    model.armature = armature
    return bodies + armature @ x["v"] ** 2 / 2


ROWS = (
    Function(
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
    ),
    Function(
        Signature(
            "potential_energy",
            (Q,),
            (Argument("U", "scalar", (), "J", "potential energy, 0 for a mass at the world's origin"),),
        ),
        "potential energy of gravity and springs",
        (
            Form(
                "bodies",
                "the sum of -m g . c",
                lambda model, x: [[potential_energy(model, x.q, x.naming)]],
            ),
            swept("moments", "the same with mass moments, and a constant", ("U",), (POTENTIAL,)),
            swept_in_loops("the same in a loop over bodies", ("U",), (POTENTIAL,)),
        ),
        operations=lambda size: 91 * size.bodies,
        pinocchio=lambda pin, model, data, x: (
            pin.computePotentialEnergy(model, data, x["q"]) + x["resistance"].energy
        ),
        resistance=(Added("U", spring_energy),),
    ),
)
