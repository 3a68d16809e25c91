"""Results agree with the equations of Nakanishi, Mistry and Schaal (ICRA 2007), with Pinocchio's M, h and J.

In the paper, joints come before the base, whose angular part is before the linear one, in world axes. The
robot has six joints, so that the misprinted products can be evaluated as well: each gives other results.
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

S = np.eye(N, 12)
"""The matrix that selects the joints."""

PAPER = [*range(6, 12), 3, 4, 5, 0, 1, 2]
"""The indices of the paper's rows in the order of rbdgen."""


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
    for row in ("contact_rnea", "contact_control")
    for name, x in random_inputs(MODEL, lookup(row).signature, 1, 3).items()
}
INPUTS |= {
    "active": np.ones((1, 2)),
    "mu": np.zeros((1, 1)),
    "tau": np.hstack([np.zeros((1, 6)), INPUTS["tau_previous"]]),
}


def ours(name: str, **changed: Array) -> list[Array]:
    """The outputs of a function's cheap form."""
    row = lookup(name)
    form = [form for form in row.forms if not form.for_size][-1]
    inputs = {**INPUTS, **{name: x[None] for name, x in changed.items()}}
    return [output[0] for output in run_on_floats(FunctionForm(row, form), MODEL, inputs)]


class Paper(NamedTuple):
    """The quantities of the paper at a state."""

    M: Array
    C: Array
    J: Array
    drift: Array
    R: Array

    @property
    def blocks(self) -> tuple[Array, Array, Array, Array]:
        return self.M[:N, :N], self.M[:N, N:], self.M[N:, :N], self.M[N:, N:]


def at_state(turning: Callable[[Array], Array] = lambda R: R) -> Paper:
    """Computes M, C + g, J and the drift by Pinocchio; `turning` is the rotation of equation 19."""
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
    """The torques and the acceleration of the base by equation 10, with its misprint corrected or not."""
    (M11, M12, M21, M22), J, a, F = RIGHT.blocks, RIGHT.J, INPUTS["a_joints"][0], INPUTS["forces"][0]
    left = np.concatenate([M11 @ a, M21 @ a]) + RIGHT.C - J.T @ F
    corner = -M12 @ (inv(M22) if put_right else M22)
    return np.block([[np.eye(N), corner], [np.zeros((6, N)), -inv(M22)]]) @ left


def reduced_inertia(middle: Array) -> Array:
    """The reduced inertia of equation 12."""
    M11, M12, M21, _ = RIGHT.blocks
    return np.asarray(M11 - M12 @ inv(middle) @ M21)


def pseudoinverse(put_right: bool = True) -> Array:
    """The transpose of S bar by equation 13, with its misprint corrected or not."""
    _, M12, M21, M22 = RIGHT.blocks
    return np.hstack([np.eye(N), -M12 @ inv(M22) if put_right else -inv(M22) @ M21])


def equation_11(M: Array, S_bar: Array, forces: Array) -> Array:
    """Equation 11, and equation 17 with these forces."""
    return np.asarray(M @ INPUTS["a_joints"][0] + S_bar @ (RIGHT.C - RIGHT.J.T @ forces))


def equation_3(tau: Array) -> Array:
    """Equation 3, and equation 6."""
    M, C, J, drift, _ = RIGHT
    through = J @ inv(M)
    return np.asarray(inv(through @ J.T) @ (through @ (C - S.T @ tau) - drift))


def equation_7(forces: Array) -> Array:
    M, C, J, _, _ = RIGHT
    inner = inv(S @ inv(M) @ S.T)
    return np.asarray(inner @ INPUTS["a_joints"][0] + inner @ S @ inv(M) @ (C - J.T @ forces))


def test_world_coordinates() -> None:
    """Equations 29 and 30 hold; equation 19 as printed has the rotation transposed."""
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


def test_forces_of_the_sample_before() -> None:
    """Equations 3, 6, 7 and 17 hold. Equation 17 would give other torques without the contact forces."""
    _, _, _, M22 = RIGHT.blocks
    forces = equation_3(INPUTS["tau_previous"][0])
    (found,) = ours("contact_forces")
    tau, before = ours("contact_control")
    assert close(found, forces)
    assert close(before, forces)
    assert close(tau, equation_7(forces))
    assert close(tau, equation_11(reduced_inertia(M22), pseudoinverse(), forces))
    assert not close(tau, equation_11(reduced_inertia(M22), pseudoinverse(put_right=False), forces))
    assert not close(tau, equation_11(reduced_inertia(M22), pseudoinverse(), 0 * forces))


def test_what_the_controller_remembers() -> None:
    """d tau / d tau_previous is S bar^T J^T G^-1 J M^-1 S^T, so that torques are a mean of old and new ones.

    The eigenvalues lie between 0 and 1. Those of internal forces are 1, so the controller keeps them.
    """
    M, _, J, _, _ = RIGHT
    offset, _ = ours("contact_control", tau_previous=np.zeros(N))
    columns = [ours("contact_control", tau_previous=e)[0] - offset for e in np.eye(N)]
    through = J @ inv(M)
    P = pseudoinverse() @ J.T @ inv(through @ J.T) @ through @ S.T
    assert close(np.stack(columns, axis=1), P)
    kept = np.sort(np.linalg.eigvals(P).real)
    assert kept[0] > -1e-9
    assert kept[-1] < 1 + 1e-9
    assert np.count_nonzero(kept > 1 - 1e-9) == len(J) - 6


def test_an_inactive_contact_is_not_there() -> None:
    """For any weight of a contact, the torques are those of inverse dynamics with the forces that act."""
    for sole in (0.0, 0.3):
        tau, forces = ours("contact_control", active=np.array([sole, 1.0]), mu=np.array([1e-3]))
        assert close(tau, ours("contact_rnea", forces=forces)[0])
        assert sole or not forces[:6].any()


def test_least_forces_move_the_robot_as_wanted() -> None:
    """From the torques for an acceleration that contacts allow, forward dynamics gives it back."""
    a, _ = ours("contact_aba")
    tau, _, a_base = ours("contact_rnea_least", a_joints=a[6:], share=np.array([1, 0.01, 1]))
    assert close(a_base, a[:6])
    back, _ = ours("contact_aba", tau=np.concatenate([np.zeros(6), tau]))
    assert close(back, a)
