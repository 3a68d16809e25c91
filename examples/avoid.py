"""Plans a motion of the arm around moving balls and itself, by IPOPT with exact derivatives of all distances.

The shortest way between two configurations leads through a ball that rests and one that crosses. The plan
keeps all pairs 20 mm apart at all knots; both balls are inputs that differ from knot to knot. The Jacobian of
the distances that CasADi passes to IPOPT is as sparse as the tree allows, and the Hessian is exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rbdgen

KNOTS, MARGIN = 24, 0.02
"""The number of knots between both ends, and the least distance in m."""

START = np.array([-1.0, 0.9, 0.0, -1.2, 0.0, 0.5, 0.0])
END = np.array([1.0, 0.9, 0.0, -1.2, 0.0, 0.5, 0.0])

ROBOT = rbdgen.load_robot("arm7", shapes="visual", pairs="auto", obstacles="spheres=2")


class Plan(NamedTuple):
    """The configurations of all knots, the balls at them, and what the solver says."""

    q: NDArray[np.float64]
    balls: NDArray[np.float64]
    status: str
    iterations: int


def balls() -> NDArray[np.float64]:
    """A ball that rests in the way, and one that crosses it (KNOTS, 2, 4)."""
    t = np.linspace(0, 1, KNOTS)
    still = np.tile([0.6, 0.0, 0.4, 0.08], (KNOTS, 1))
    crossing = np.stack([0.3 + 0.4 * t, 0.5 - 0.4 * t, np.full(KNOTS, 0.7), np.full(KNOTS, 0.06)], axis=1)
    return np.stack([still, crossing], axis=1)


def straight() -> NDArray[np.float64]:
    """The configurations of the shortest way (KNOTS, 7)."""
    t = np.linspace(0, 1, KNOTS + 2)[1:-1, None]
    way: NDArray[np.float64] = (1 - t) * START + t * END
    return way


def planned(library: Any) -> Plan:
    """Solves for the configurations of all knots."""
    import casadi  # noqa: PLC0415  (only this example needs it)

    obstacles = balls()
    apart = library.casadi("distances", KNOTS, hessian=True)
    opti = casadi.Opti()
    q = opti.variable(7, KNOTS)
    way = casadi.horzcat(START, q, END)
    opti.minimize(casadi.sumsqr(way[:, 1:] - way[:, :-1]))
    side_by_side = np.concatenate(list(obstacles), axis=1)  # (2, 4 KNOTS), a block for each knot
    opti.subject_to(casadi.vec(apart(q, side_by_side)) >= MARGIN)
    limits = [(joint["lower"], joint["upper"]) for joint in library.manifest["joints"]]
    opti.subject_to(opti.bounded([low for low, _ in limits], q, [high for _, high in limits]))
    opti.set_initial(q, straight().T)
    opti.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    solution = opti.solve()
    stats = solution.stats()
    return Plan(solution.value(q).T, obstacles, stats["return_status"], stats["iter_count"])


def main() -> None:
    """Plans the motion, and prints the distances of the shortest way and of the plan."""
    library = rbdgen.build(
        ROBOT, functions=["distances", "distance_jacobian", "distances_vjp", "distances_hvp"]
    )
    names = library.manifest["distance_pairs"]["pairs"]
    plan = planned(library)
    for name, q in (("shortest way", straight()), ("plan", plan.q)):
        d = library.distances(q, plan.balls)
        knot, pair = np.unravel_index(d.argmin(), d.shape)
        print(f"{name}: nearest {1000 * d.min():.1f} mm, {names[pair]} at knot {knot}")
    size = f"{plan.q.size} variables and {d.size} distances"
    print(f"{plan.status} after {plan.iterations} iterations with {size}")


if __name__ == "__main__":
    main()
