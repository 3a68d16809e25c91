"""The equations of Nakanishi, Mistry and Schaal (ICRA 2007) as they stand, on Pinocchio's M, h and J.

Joints come first there, then the base, angular before linear, in world axes. The robot has six joints, so
that the products that are misprinted exist too: each of them alone gives something else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.linalg import inv
from numpy.typing import NDArray
from support.forms import FunctionForm, relative_error, run_on_floats
from support.pinocchio_oracle import model_of_numbers
from support.random_trees import floats, in_floats
from support.rationals import Rationals
from support.states import random_inputs

from rbdgen.functions.table import lookup
from rbdgen.model.contacts import Contact
from rbdgen.model.frames import Frame
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import IDENTITY, Transform, Vector

Array = NDArray[np.float64]

N = 6

PAPER = [*range(6, 12), 3, 4, 5, 0, 1, 2]
"""Where the paper's rows stand in ours."""


def two_legs() -> Model:
    """A floating base on two legs of three joints, one of which slides; a frame and a point at their ends."""
    model = Rationals(4).model((WORLD, 0, 1, 2, 0, 4, 5), "FRPRRRR")
    places = [Frame(str(k), k, Transform(IDENTITY, Vector(0.1, -0.2, 0.3))) for k in (3, 6)]
    contacts = (Contact("sole", "frame", places[0]), Contact("tip", "point", places[1]))
    return replace(
        model, bodies=tuple(map(in_floats, model.bodies)), gravity=floats(model.gravity), contacts=contacts
    )


MODEL = two_legs()

INPUTS = {
    name: x
    for row in ("contact_rnea",)
    for name, x in random_inputs(MODEL, lookup(row).signature, 1, 3).items()
}


def ours(name: str) -> list[Array]:
    """The outputs of a function's cheapest form."""
    row = lookup(name)
    form = [form for form in row.forms if not form.compact][-1]
    return [output[0] for output in run_on_floats(FunctionForm(row, form), MODEL, INPUTS)]


class Paper(NamedTuple):
    """Its quantities at a state."""

    M: Array
    C: Array
    J: Array
    drift: Array
    R: Array

    @property
    def blocks(self) -> tuple[Array, Array, Array, Array]:
        return self.M[:N, :N], self.M[:N, N:], self.M[N:, :N], self.M[N:, N:]


def at_state(turning: Callable[[Array], Array] = lambda R: R) -> Paper:
    """M, C + g, and how contacts move; `turning`: equation 19."""
    q, v = INPUTS["q"][0], INPUTS["v"][0]
    model = model_of_numbers(MODEL)
    frames = [
        model.addFrame(
            pin.Frame(
                f"held{k}",
                end.body + 1,
                0,
                pin.SE3(np.eye(3), np.array([*end.placement.translation], float)),
                pin.FrameType.OP_FRAME,
            )
        )
        for k, end in enumerate(contact.first for contact in MODEL.contacts)
    ]
    data = model.createData()
    pin.computeAllTerms(model, data, q, v)
    M, h, R = np.triu(data.M) + np.triu(data.M, 1).T, data.nle, data.oMi[1].rotation
    pin.forwardKinematics(model, data, q, v, 0 * v)
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    rows = [slice(contact.rows) for contact in MODEL.contacts]
    J = np.vstack(
        [pin.computeFrameJacobian(model, data, q, f, aligned)[r] for f, r in zip(frames, rows, strict=True)]
    )
    pin.updateFramePlacements(model, data)
    drift = np.concatenate(
        [
            pin.getFrameClassicalAcceleration(model, data, f, aligned).vector[r]
            for f, r in zip(frames, rows, strict=True)
        ]
    )
    T = np.eye(12)
    T[:3, :3] = T[3:6, 3:6] = R
    X = np.eye(6)
    X[:3, :3] = X[3:, 3:] = turning(R)
    spatial, C = M[np.ix_(PAPER, PAPER)], h[PAPER]
    C, f = C[:N], X @ C[N:]  # 18, 25
    K = X @ spatial[N:, :N]  # 22
    M = np.block([[spatial[:N, :N], K.T], [K, X @ spatial[N:, N:] @ X.T]])  # 21, 23, 29
    gliding = np.concatenate([np.zeros(3), np.cross(R @ v[:3], R @ v[3:6])])
    C = np.concatenate([C, f]) + M[:, N:] @ gliding  # 30
    # conventional accelerations of the base in place of spatial ones
    drift = drift - J[:, :3] @ np.cross(v[3:6], v[:3])
    return Paper(M, C, (J @ T.T)[:, PAPER], drift, R)


RIGHT = at_state()


def close(ours: Array, theirs: Array) -> bool:
    return relative_error(ours[None], np.asarray(theirs)[None]) < 1e-11


def equation_10(put_right: bool = True) -> Array:
    """tau and the base's acceleration."""
    (M11, M12, M21, M22), J, a, F = RIGHT.blocks, RIGHT.J, INPUTS["a_joints"][0], INPUTS["forces"][0]
    left = np.concatenate([M11 @ a, M21 @ a]) + RIGHT.C - J.T @ F
    corner = -M12 @ (inv(M22) if put_right else M22)
    return np.block([[np.eye(N), corner], [np.zeros((6, N)), -inv(M22)]]) @ left


def reduced_inertia(middle: Array) -> Array:
    """12."""
    M11, M12, M21, _ = RIGHT.blocks
    return np.asarray(M11 - M12 @ inv(middle) @ M21)


def pseudoinverse(put_right: bool = True) -> Array:
    """S bar transposed, 13."""
    _, M12, M21, M22 = RIGHT.blocks
    return np.hstack([np.eye(N), -M12 @ inv(M22) if put_right else -inv(M22) @ M21])


def equation_11(M: Array, S_bar: Array, forces: Array) -> Array:
    """And 17, with these forces."""
    return np.asarray(M @ INPUTS["a_joints"][0] + S_bar @ (RIGHT.C - RIGHT.J.T @ forces))


def test_world_coordinates() -> None:
    """29 and 30; 19 as printed turns the wrong way."""
    (Mw,), (hw,) = ours("crba_world"), ours("nle_world")
    assert close(Mw[np.ix_(PAPER, PAPER)], RIGHT.M)
    assert close(hw[PAPER], RIGHT.C)
    misprinted = at_state(np.transpose)
    assert not close(Mw[np.ix_(PAPER, PAPER)], misprinted.M)
    assert not close(hw[PAPER], misprinted.C)


def test_known_forces() -> None:
    tau, a_base = ours("contact_rnea")
    _, _, M21, M22 = RIGHT.blocks
    v, forces = INPUTS["v"][0], INPUTS["forces"][0]
    classical = RIGHT.R @ (a_base[:3] + np.cross(v[3:6], v[:3]))
    found = np.concatenate([tau, RIGHT.R @ a_base[3:], classical])
    assert close(found, equation_10())
    assert not close(found, equation_10(put_right=False))
    assert close(tau, equation_11(reduced_inertia(M22), pseudoinverse(), forces))
    assert not close(tau, equation_11(reduced_inertia(M21), pseudoinverse(), forces))
    assert not close(tau, equation_11(reduced_inertia(M22), pseudoinverse(put_right=False), forces))
