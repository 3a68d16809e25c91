"""Runs a campaign in a process of its own, which has few threads and may fork.

A test run has imported libraries such as JAX, whose threads do not survive a fork.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

from support.session import shared_cores, verified_printers

from campaigns.__main__ import campaigns
from campaigns.tally import Tally
from rbdgen.errors import RobotWarning
from rbdgen.resources import package_root


def run_apart(name: str, seed: int, size: int) -> Tally:
    """The tally of a campaign, with its failures in words."""
    command = [sys.executable, "-W", "error", "-m", __name__, name, str(seed), str(size)]
    tests = Path(__file__).parents[1]
    path = os.pathsep.join(map(str, (package_root().parent, tests, tests.parent)))
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    return Tally(counts["tried"], counts["wrong"], counts["crashed"], notes=tuple(counts["notes"]))


def main(name: str, seed: str, size: str) -> None:
    warnings.simplefilter("ignore", RobotWarning)  # drawn robots have all that is warned of
    with verified_printers(), shared_cores():
        tally = Tally.of(campaigns()[name].run(int(seed), int(size)))
    counts = {"tried": tally.tried, "wrong": tally.wrong, "crashed": tally.crashed, "notes": tally.notes}
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
