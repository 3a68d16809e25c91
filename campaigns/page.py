"""Writes the page of the campaigns, `README.md` of this folder, with the counts in `counts.json`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import cleandoc
from pathlib import Path
from types import ModuleType
from typing import Any

from campaigns.tally import Tally

INTRODUCTION = """\
# Campaigns

Each campaign makes many hostile cases from a seed and counts what fails. The same seed makes the same cases.
`make attack` runs all campaigns; a small part of each runs in `make test` (`tests/campaigns`).

```
make attack                                                   # all campaigns, each at its own size
make attack ATTACK="--only robots --seed 7 --size 500"        # one campaign, another seed, 500 cases
make attack ATTACK="--only robots --seed 7 --case 123"        # one case again, with all that is known of it
make attack ATTACK="--write"                                  # also write this page
```

*Wrong*: a wrong number, a wrong word or a wrong file. *Crashed*: an error that nobody intended.
*Ill-conditioned*: the result is off by more than the tolerance, but rounding the numbers with which any
algorithm computes changes the right result as much; such cases are counted separately.
"""

HEAD = (
    "| campaign | kinds | seed | tried | wrong | crashed | ill-conditioned | seconds |\n" + "|---" * 8 + "|"
)

MOST_MISSING = 8
"""If a run has missed more items of a list than this, they are not named one by one."""


@dataclass(frozen=True)
class Row:
    """The counts of one run of a campaign."""

    campaign: str
    kinds: int
    seed: int
    size: int
    tally: Tally
    seconds: float
    covered: Mapping[str, str]
    """The coverage of each list of the campaign, in words."""

    @property
    def in_words(self) -> str:
        t = self.tally
        covered = "".join(f"; {what}: {how}" for what, how in self.covered.items())
        return (
            f"{self.campaign}: {self.kinds} kinds, seed {self.seed}: {t.tried} tried, {t.wrong} wrong, "
            f"{t.crashed} crashed, {t.ill_conditioned} ill-conditioned, {self.seconds:.0f} s{covered}"
        )

    @property
    def counts(self) -> dict[str, Any]:
        tally = asdict(self.tally)
        del tally["notes"], tally["covered"]
        counts = {"kinds": self.kinds, "seed": self.seed, **tally, "seconds": round(self.seconds)}
        return {**counts, "covered": self.covered} if self.covered else counts


def write_page(folder: Path, rows: Iterable[Row], modules: Mapping[str, ModuleType]) -> None:
    """Adds the rows to those of earlier runs, and writes `counts.json` and the page."""
    kept = folder / "counts.json"
    counts = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    counts |= {row.campaign: row.counts for row in rows}
    counts = {name: counts[name] for name in sorted(counts) if name in modules}
    kept.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(page(counts, modules), encoding="utf-8")


def page(counts: Mapping[str, Mapping[str, Any]], modules: Mapping[str, ModuleType]) -> str:
    table = [HEAD, *(_table_row(name, row) for name, row in counts.items())]
    sections = [_section(name, module, counts.get(name, {})) for name, module in modules.items()]
    return "\n".join([INTRODUCTION, *table, "", "\n\n".join(sections)]) + "\n"


def _table_row(name: str, row: Mapping[str, Any]) -> str:
    columns = ("kinds", "seed", "tried", "wrong", "crashed", "ill_conditioned", "seconds")
    return f"| {name} | " + " | ".join(str(row[column]) for column in columns) + " |"


def kinds_of(module: ModuleType) -> Mapping[str, str]:
    """The kinds of a campaign's cases with their descriptions, which may be empty."""
    kinds: Mapping[str, str] | Sequence[str] = module.KINDS
    return kinds if isinstance(kinds, Mapping) else dict.fromkeys(kinds, "")


def coverage(module: ModuleType, covered: Collection[str]) -> dict[str, str]:
    """For each list of a campaign, how many of its items a run has covered, and names of missing items."""
    found = {}
    for what, every in getattr(module, "COVERED", {}).items():
        missing = [x for x in every if x not in covered]
        rest = f", without {', '.join(missing)}" if 0 < len(missing) <= MOST_MISSING else ""
        found[what] = f"{len(every) - len(missing)} of {len(every)}{rest}"
    return found


def _section(name: str, module: ModuleType, counts: Mapping[str, Any]) -> str:
    listed = [f"- {kind}: {words}" if words else f"- {kind}" for kind, words in kinds_of(module).items()]
    covered = [f"- {what}: {how}" for what, how in counts.get("covered", {}).items()]
    told = ["", "The run in the table has covered:", "", *covered] if covered else []
    return "\n".join([f"## {name}", "", cleandoc(module.__doc__ or ""), "", *listed, *told])
