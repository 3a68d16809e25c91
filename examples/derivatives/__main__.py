"""Repeats the experiments, and writes results.json, results.md, times.svg and precision.svg.

python -m examples.derivatives          measures all robots; it takes half an hour, and more the first time
python -m examples.derivatives --draw   only writes page and figures again, from results.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.bench import Json
from benchmarks.contestants import Contest
from benchmarks.toolchain import ToolError
from examples.derivatives.generated import Effort
from examples.derivatives.measured import measured
from examples.derivatives.page import page
from examples.derivatives.plots import plot_precision, plot_times
from examples.derivatives.precision import Errors, Zeros, errors, zeros
from examples.derivatives.robots import robots

FOLDER: Final = Path(__file__).parent


def main() -> None:
    """Measures all robots, or draws the results again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="measure nothing; use results.json")
    parser.add_argument("--links", type=int, default=5, help="the number of links of each function")
    parser.add_argument("--seconds", type=float, default=0.2, help="the time spent on each link")
    parser.add_argument(
        "--slow",
        action="store_true",
        help="all of CppADCodeGen, which compiles for hours",
    )
    given = parser.parse_args()
    contests = robots()
    measurements = []
    if not given.draw:
        for contest in contests:
            print(f"{contest.name}: generating, compiling and measuring", file=sys.stderr, flush=True)
            measurements.append(measured(contest, Effort(given.links, given.seconds, given.slow)))
    written(FOLDER, measurements, contests[-1])


def written(folder: Path, measurements: list[Json], contest: Contest) -> None:
    """Writes results, page and figures. Without measurements, those of results.json remain.

    `contest` is the robot whose precision is shown.
    """
    file = folder / "results.json"
    robots = measurements or json.loads(file.read_text(encoding="utf-8"))["robots"]
    vanishing, by_step = zeros(contest), errors(contest)
    results = {"robots": robots, "precision": summary(contest.name, vanishing, by_step)}
    file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(page(results), encoding="utf-8")
    plot_times(folder / "times.svg", robots)
    plot_precision(folder / "precision.svg", vanishing, by_step)


def summary(robot: str, zeros: Mapping[str, Zeros], errors: Mapping[str, Errors]) -> Json:
    """The figures of Fig. 3, as JSON."""
    return {
        "robot": robot,
        "zeros": {
            label: {
                "entries": found.differences.size,
                "analytical": int(np.count_nonzero(found.analytical)),
                "differences": int(np.count_nonzero(found.differences)),
                "largest": float(np.abs(found.differences).max()),
            }
            for label, found in zeros.items()
        },
        "best": {
            label: {"forward": float(found.forward.min()), "central": float(found.central.min())}
            for label, found in errors.items()
        },
    }


if __name__ == "__main__":
    try:
        main()
    except ToolError as error:
        sys.exit(f"derivatives: {error}")
