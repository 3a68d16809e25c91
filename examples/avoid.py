"""Plans a motion of the arm around moving balls and itself, by IPOPT with exact derivatives of all distances.

    python examples/avoid.py            prints the distances of the shortest way and of the plan
    python examples/avoid.py FOLDER     also draws them there; needs pip install 'rbdgen[plot]'

The shortest way between two configurations leads through a ball that rests and one that crosses. The plan
keeps all pairs 20 mm apart at all knots; both balls are inputs that differ from knot to knot. The Jacobian of
the distances that CasADi passes to IPOPT is as sparse as the tree allows, and the Hessian is exact.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
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


def draw(file: Path, ways: Mapping[str, NDArray[np.float64]], names: Sequence[str]) -> None:
    """Draws the smallest distances (KNOTS, npairs) of each way from both balls and from the arm itself."""
    import matplotlib  # noqa: PLC0415  (optional)

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    firsts = [name.partition("~")[0] for name in names]
    kinds = {
        "ball at rest": [k for k, first in enumerate(firsts) if first == "sphere[0]"],
        "ball that crosses": [k for k, first in enumerate(firsts) if first == "sphere[1]"],
        "the arm itself": [k for k, first in enumerate(firsts) if "[" not in first],
    }
    with plt.rc_context({"svg.hashsalt": "rbdgen", "font.size": 9}):
        figure, panels = plt.subplots(1, len(ways), figsize=(9.0, 3.0), sharey=True)
        for panel, (way, d) in zip(panels, ways.items(), strict=True):
            panel.axhline(1000 * MARGIN, color="k", linewidth=0.8, linestyle="--", label="margin")
            for kind, of in kinds.items():
                panel.plot(np.arange(KNOTS), 1000 * d[:, of].min(axis=1), "o-", markersize=3, label=kind)
            panel.set(title=way, xlabel="knot")
            panel.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("nearest, mm")
        panels[0].legend(fontsize=8)
        figure.tight_layout()
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)


def main() -> None:
    """Plans the motion, and prints the distances of the shortest way and of the plan."""
    library = rbdgen.build(
        ROBOT, functions=["distances", "distance_jacobian", "distances_vjp", "distances_hvp"]
    )
    names = library.manifest["distance_pairs"]["pairs"]
    plan = planned(library)
    ways = {
        name: library.distances(q, plan.balls) for name, q in (("shortest way", straight()), ("plan", plan.q))
    }
    for name, d in ways.items():
        knot, pair = np.unravel_index(d.argmin(), d.shape)
        print(f"{name}: nearest {1000 * d.min():.1f} mm, {names[pair]} at knot {knot}")
    size = f"{plan.q.size} variables and {d.size} distances"
    print(f"{plan.status} after {plan.iterations} iterations with {size}")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        draw(folder / "avoid.svg", ways, names)


if __name__ == "__main__":
    main()
