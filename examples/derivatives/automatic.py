"""Automatic differentiation by CasADi of rbdgen's own expressions of RNEA and ABA, as C of CasADi.

An expression is a function of q, which has a unit quaternion for a floating base. Derivatives in the tangent
space are those by q times the matrix T(q) of q_dot = T(q) v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

import rbdgen
from benchmarks.states import Rows
from rbdgen.model.build import Robot

DIFFERENTIATED: Final = {"rnea_jacobian": "rnea", "aba_jacobian": "aba"}
"""By name of the function of derivatives: the function that is differentiated."""

OPERATIONS: Final = 20_000
"""The number of operations of CasADi's derivatives above which CppADCodeGen's are only measured on request.
Compilers take many minutes for their C."""


def expression(robot: Robot, function: str) -> Any:
    """A function as a `casadi.Function` of dense results."""
    import casadi  # noqa: PLC0415  (takes long to import)

    traced = rbdgen.trace(robot, function)
    inputs = traced.sx_in()
    return casadi.Function(function, inputs, [casadi.densify(traced(*inputs))])


def jacobian(robot: Robot, name: str) -> Any:
    """All derivatives of a function in the tangent space, as a `casadi.Function` of dense, row-major
    results."""
    import casadi  # noqa: PLC0415  (takes long to import)

    traced = rbdgen.trace(robot, DIFFERENTIATED[name])
    q, v, third = traced.sx_in()
    y = traced(q, v, third)
    by_q = casadi.jacobian(y, q) @ tangent_map(q, robot.nv, casadi.SX)
    found = [by_q, casadi.jacobian(y, v), casadi.jacobian(y, third)]
    return casadi.Function(name, [q, v, third], [casadi.densify(matrix.T) for matrix in found])


def tangent_map(q: Any, nv: int, matrix: Callable[[int, int], Any]) -> Any:
    """T(q) of q_dot = T(q) v, of shape (nq, nv), for one configuration.

    `matrix(rows, columns)` makes a matrix of zeros. The base is fixed, or floating with q = [x y z qx qy qz
    qw ...] and velocities in its own axes; each further joint has one coordinate.
    """
    nq = q.shape[0]
    T = matrix(nq, nv)
    if nq == nv + 1:
        x, y, z, w = (q[k] for k in range(3, 7))
        rotation = (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
        halves = ((w, -z, y), (z, w, -x), (-y, x, w), (-x, -y, -z))  # of the quaternion q (w, 0)
        for column in range(3):
            for row in range(3):
                T[row, column] = rotation[row][column]
            for row in range(4):
                T[3 + row, 3 + column] = halves[row][column] / 2
    for k in range(6 if nq == nv + 1 else 0, nv):
        T[k + nq - nv, k] = 1
    return T


def in_tangent_space(jacobians: Rows, q: Rows) -> tuple[Rows, ...]:
    """Derivatives (states, nv, nq + 2 nv) by the elements of q, v and a third argument, in the tangent space:
    three matrices (states, nv, nv)."""
    nv, nq = jacobians.shape[1], q.shape[1]
    T = np.stack([tangent_map(row, nv, lambda *shape: np.zeros(shape)) for row in q])
    return jacobians[:, :, :nq] @ T, jacobians[:, :, nq : nq + nv], jacobians[:, :, nq + nv :]
