"""Plans a reach of the arm in one second with the smallest torques, by CasADi and IPOPT, and compares times.

    python examples/mpc_casadi.py           prints a row for every way to compute the torques

The problem has 32 knots. Its variables are q, v and a of each; torques follow from inverse dynamics. They are
computed by expressions (SX), which CasADi interprets, or by rbdgen's compiled C, with one knot per call or
with all knots in one call, in SIMD vectors. All ways find the same optimum.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import casadi
import numpy as np

import rbdgen

KNOTS, STEP = 32, 1 / 32
START = np.array([0.0, 0.5, 0.0, -1.0, 0.0, 0.5, 0.0])
GOAL = np.array([1.5, -0.5, 0.7, -1.8, -0.6, 1.0, 0.4])
LIMITS = np.array([200.0, 200.0, 100.0, 100.0, 50.0, 40.0, 40.0])
"""The limits of the torques, N m."""


class Reach(NamedTuple):
    """A solution and its times.

    `functions` are the seconds of `solved` that functions took, outside of IPOPT.
    """

    built: float
    solved: float
    functions: float
    iterations: int
    cost: float


def reach(torques: Any, hessian: str) -> Reach:
    """Solves the problem.

    `torques(q, v, a)` takes and returns columns; `hessian` is exact or limited-memory.
    """
    joints = len(START)
    q, v, a = (casadi.MX.sym(name, joints, KNOTS) for name in "qva")
    tau = torques(q, v, a)
    motion = [q[:, 1:] - q[:, :-1] - STEP * v[:, 1:], v[:, 1:] - v[:, :-1] - STEP * a[:, :-1]]
    ends = [q[:, 0] - START, q[:, -1] - GOAL, v[:, 0], v[:, -1]]
    equal = casadi.veccat(*motion, *ends)
    problem = {
        "x": casadi.veccat(q, v, a),
        "f": STEP * (casadi.sumsqr(tau / LIMITS) + 1e-4 * casadi.sumsqr(a)),
        "g": casadi.veccat(equal, tau),
    }
    options = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-5}
    begun = time.perf_counter()
    solver = casadi.nlpsol("reach", "ipopt", problem, {**options, "ipopt.hessian_approximation": hessian})
    built = time.perf_counter() - begun
    line = np.linspace(START, GOAL, KNOTS).ravel()
    bounds = np.concatenate([np.zeros(equal.numel()), np.tile(LIMITS, KNOTS)])
    begun = time.perf_counter()
    found = solver(x0=np.concatenate([line, np.zeros(2 * line.size)]), lbg=-bounds, ubg=bounds)
    solved = time.perf_counter() - begun
    told = solver.stats()
    if not told["success"]:
        raise SystemExit(f"IPOPT: {told['return_status']}")
    parts = ("nlp_f", "nlp_g", "nlp_grad_f", "nlp_jac_g", "nlp_hess_l")
    functions = sum(told.get(f"t_wall_{part}", 0.0) for part in parts)
    return Reach(built, solved, functions, told["iter_count"], float(found["f"]))


def main() -> None:
    """Solves the problem in all ways and prints the table."""
    robot = rbdgen.load_robot("arm7")
    library = rbdgen.build(robot, ["rnea", "rnea_derivatives", "rnea_vjp", "rnea_hvp"])
    textbook = rbdgen.trace(robot, "rnea", variant="newton_euler").map(KNOTS)
    traced = rbdgen.trace(robot, "rnea").map(KNOTS)
    one = library.casadi("rnea", hessian=True).map(KNOTS)
    all_knots = library.casadi("rnea", knots=KNOTS, hessian=True)
    ways = (
        ("SX, textbook's form", textbook, "exact"),
        ("SX of rbdgen.trace", traced, "exact"),
        ("SX of rbdgen.trace", traced, "limited-memory"),
        ("lib.casadi, 1 knot per call", one, "exact"),
        (f"lib.casadi, {KNOTS} knots per call", all_knots, "exact"),
        ("lib.casadi, 1 knot per call", one, "limited-memory"),
        (f"lib.casadi, {KNOTS} knots per call", all_knots, "limited-memory"),
    )
    print(
        f"{'torques':30}{'Hessian':16}{'built':>8}{'solved':>8}{'functions':>11}{'iterations':>12}{'cost':>10}"
    )
    for name, torques, hessian in ways:
        found = reach(torques, hessian)
        print(
            f"{name:30}{hessian:16}{found.built:8.2f}{found.solved:8.3f}{found.functions:11.3f}"
            f"{found.iterations:12}{found.cost:10.5f}"
        )


if __name__ == "__main__":
    main()
