"""Proves the functions of the bundled robots, and some of a user's own, by Frama-C/Eva, for docs/trust.md.

python -m benchmarks.proofs               all functions
python -m benchmarks.proofs arm7 own      those of these robots, or those of a user's own
python -m benchmarks.proofs --jobs 1      one after the other

Each proof is saved at once in results/proofs.json. A function whose C has not changed since is not proved
again, so that a run which takes hours can be interrupted. The exit status is 1 if a function is not proved.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

from support.contacts import arm, humanoid, quadruped
from support.own import ARM, QUADRUPED, computed_torque, reach, rk4, terms
from support.robots import BUNDLED

import rbdgen
from rbdgen.errors import RbdgenError
from rbdgen.functions.table import ALL
from rbdgen.model.build import Robot
from rbdgen.prove.eva import find_frama_c
from rbdgen.prove.prove import prove

RESULTS: Final = Path(__file__).parent / "results" / "proofs.json"

CONTACTS: Final = {"arm7": arm, "quadruped12": quadruped, "humanoid30": humanoid}
"""The robots that have contacts."""

OWN: Final = {
    f"{own.name} in {real}": (robot, own, real)
    for robot, own in ((ARM, computed_torque), (ARM, reach), (ARM, rk4), (QUADRUPED, terms))
    for real in ("double", "float")
}

Results = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class Row:
    """A function to prove: of a bundled robot, or of a user's own."""

    owner: str
    name: str

    def generated(self, folder: Path) -> Path:
        """Generates the folder of the function in portable C."""
        if self.owner == "own":
            robot, own, real = OWN[self.name]
            return rbdgen.generate(robot, folder, [own], target="portable", real=real, compiled=False)
        params = ["mass:*"] if ALL[self.name].by_parameters else []
        robot = robot_of(self.owner)
        return rbdgen.generate(robot, folder, [self.name], target="portable", params=params, compiled=False)


@cache
def robot_of(name: str) -> Robot:
    return CONTACTS[name]() if name in CONTACTS else rbdgen.load_robot(name, frames=["*"])


def rows() -> list[Row]:
    """All functions to prove, by owner."""
    found = [
        Row(name, row.name)
        for name in BUNDLED
        for row in ALL.values()
        if not row.missing(robot_of(name).model)
    ]
    return [*found, *(Row("own", name) for name in OWN)]


def checksum(folder: Path) -> str:
    """The first digits of the checksum of the C of a folder."""
    texts = (path.read_bytes() for path in sorted([*folder.glob("*.c"), *folder.glob("*.h")]))
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def proved(row: Row, known: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The proof of a function and of those that come with it; None if the known one still holds.

    Raises:
        RbdgenError: the function cannot be generated, or Frama-C cannot analyse it.
    """
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as scratch:
        folder = row.generated(Path(scratch))
        source = checksum(folder)
        if known is not None and known["source"] == source:
            return None
        start = time.perf_counter()
        proofs = prove(folder)
        return {
            "source": source,
            "proved": all(proof.proved for proof in proofs),
            "finite": all(proof.finite for proof in proofs),
            "alarms": sum(proof.alarms for proof in proofs),
            "statements": sum(proof.statements for proof in proofs),
            "seconds": round(time.perf_counter() - start, 1),
        }


def saved() -> Results:
    """The proofs in the file of results, by owner and function."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))["proofs"] if RESULTS.is_file() else {}


def lines(results: Results) -> Iterator[str]:
    """The lines of a Markdown table with a row for each owner."""
    yield "| robot | functions | analysed | statements | alarms | proved | also finite |"
    yield "|---|---|---|---|---|---|---|"
    for owner, count in Counter(row.owner for row in rows()).items():
        each = results.get(owner, {}).values()
        sums = [sum(proof[key] for proof in each) for key in ("statements", "alarms", "proved", "finite")]
        yield f"| {' | '.join(map(str, [title(owner), count, len(each), *sums]))} |"


def not_finite(results: Results) -> str:
    """The sentence of the page with the functions that are not proved finite for some robot."""
    names = {name for each in results.values() for name, proof in each.items() if not proof["finite"]}
    return f"Not proved finite for some of these robots: {', '.join(f'`{name}`' for name in sorted(names))}."


def title(owner: str) -> str:
    return "functions of a user's own" if owner == "own" else f"`{owner}`{', contacts' * (owner in CONTACTS)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("owners", nargs="*", help=f"{', '.join(BUNDLED)} or own (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="the number of functions at a time (default 2)")
    given = parser.parse_args()
    tool, results, lock = find_frama_c(), saved(), Lock()
    wanted = [row for row in rows() if not given.owners or row.owner in given.owners]

    def run(row: Row) -> bool:
        known = results.get(row.owner, {}).get(row.name)
        try:
            proof = proved(row, known)
        except RbdgenError as error:
            print(f"{row.owner} {row.name}: {error}", flush=True)
            return False
        if proof is None:
            return bool(known and known["proved"])
        said = "proved" if proof["proved"] else f"NOT proved, {proof['alarms']} alarms"
        with lock:
            print(f"{row.owner} {row.name}: {said}, {proof['seconds']} s", flush=True)
            results.setdefault(row.owner, {})[row.name] = proof
            save(tool.version, results)
        return bool(proof["proved"])

    with ThreadPoolExecutor(given.jobs) as pool:
        right = list(pool.map(run, wanted))
    print("\n".join(lines(saved())))
    print(f"{sum(right)} of {len(wanted)} functions are proved")
    return 0 if all(right) else 1


def save(version: str, results: Results) -> None:
    """Writes the proofs of all rows that exist, in their order."""
    ordered: Results = {}
    for row in rows():
        if row.name in results.get(row.owner, {}):
            ordered.setdefault(row.owner, {})[row.name] = results[row.owner][row.name]
    text = json.dumps({"frama-c": version, "proofs": ordered}, indent=1)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
