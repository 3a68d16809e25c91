"""Measures how well the solver of `contact_step` finds impulses in motions, standing, and in random impacts.

`python -m benchmarks.impacts` writes results/impacts.json: for the quadruped, the residuals of recorded steps
and of random states in which about two feet hit the ground; for the humanoid that stands with random
velocities, those of all steps; and for random impacts of soles, the share of states with a residual below
1e-6 m/s, by the softness of the law and the plan of the solver, with the operations of the solver. The states
are those of the tests, which are drawn with fixed seeds, so results are the same on every machine but for
rounding. Nothing is timed. The folder `tests` must be on the path, where `make bench-impacts` puts it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from support.friction import law, quadruped, random_states, recorded, step
from support.soles import box, humanoid, planned, random_impacts

from benchmarks import standing
from benchmarks.contestants import CONTESTS
from rbdgen.functions.friction.rows import SOLVER
from rbdgen.graph.programs.passes import TO_C, apply
from rbdgen.model.build import Robot
from rbdgen.selection.trace import trace_inner

RESULTS: Final = Path(__file__).parent / "results" / "impacts.json"

SOLVED: Final = 1e-6
"""The residual in m/s below which a step is solved."""

SOFTNESS: Final = (1e-3, 1e-4, 1e-5, 1e-6)
PLANS: Final = ((4, 2, 0), (6, 2, 0), (8, 3, 0), (5, 8, 2))

HITS: Final = 8192
"""The number of random states of the quadruped."""

IMPACTS: Final = 1024
"""The number of random impacts of soles for each speed and each ground."""

FALLS: Final = (256, 100)
"""The number of rollouts of the humanoid, and their steps."""

Json = dict[str, Any]


def main() -> None:
    """Measures everything, writes the file of results, and prints it."""
    found = report()
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


def report() -> Json:
    """The content of the file of results."""
    names = {"humanoid": (humanoid(), PLANS), "box": (box(), PLANS[:1])}
    return {
        "recorded": summary(recorded().residual),
        "hits": summary(np.concatenate([hits(wild) for wild in (False, True)])),
        "standing": {f"{speed:g}": summary(fallen(speed)) for speed in (0.05, 0.5)},
        "impacts": {
            name: {",".join(map(str, plan)): impacts(robot, *plan) for plan in plans}
            for name, (robot, plans) in names.items()
        },
    }


def summary(residuals: Any) -> Json:
    """The number of steps, their residuals in m/s, and the share that is solved in per cent."""
    return {
        "steps": int(np.size(residuals)),
        "median": float(np.median(residuals)),
        "99 %": float(np.quantile(residuals, 0.99)),
        "largest": float(np.max(residuals)),
        "solved": share(residuals),
    }


def share(residuals: Any) -> float:
    """The share of solved steps in per cent."""
    return float(100 * (np.asarray(residuals) < SOLVED).mean())


def hits(wild: bool) -> Any:
    """The residuals of random states of the quadruped."""
    return step(quadruped(), **random_states(HITS // 2, wild)).residual


def fallen(speed: float) -> Any:
    """The residuals of all steps of humanoids that stand with random velocities of about this speed."""
    (contest,) = (x for x in CONTESTS if x.name == "humanoid30")
    library = standing.library_of(standing.standing_robot(contest))
    found: Any = standing.ours(library, standing.start(library, *FALLS, speed))()
    return found.residual


def impacts(robot: Robot, *plan: int) -> Json:
    """The shares of solved impacts of soles by softness, and the operations of the solver."""
    model = planned(robot, *plan)
    states = [
        random_impacts(model, IMPACTS, wild, rough, 7 + wild)
        for wild in (False, True)
        for rough in (False, True)
    ]
    shares, largest = {}, 0.0
    for softness in SOFTNESS:
        steps = [step(model, **inputs, law=law(softness=softness)).residual for inputs in states]
        shares[f"{softness:g}"] = share(steps)
        largest = max(largest, float(np.max(steps)))
    operations = apply(trace_inner(model, SOLVER, "graph"), TO_C).cost.total
    return {"operations": operations, "states": len(states) * IMPACTS, "solved": shares, "largest": largest}


if __name__ == "__main__":
    main()
