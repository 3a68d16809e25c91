"""The page of the campaigns: `README.md` of this folder, from the counts in `counts.json`."""

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

*Wrong*: a wrong number, a wrong word or a wrong file. *Crashed*: an error that nobody meant.
*Ill-conditioned*: more than 1e-8 off, but the rounding of what any algorithm computes with changes the result
as much; such cases are counted apart.
"""

HEAD = (
    "| campaign | kinds | seed | tried | wrong | crashed | ill-conditioned | seconds |\n" + "|---" * 8 + "|"
)

MOST_MISSING = 8
"""The largest number of items that a run has not covered which are named one by one."""


@dataclass(frozen=True)
class Row:
    """One campaign, run once."""

    campaign: str
    kinds: int
    seed: int
    size: int
    tally: Tally
    seconds: float
    covered: Mapping[str, str]
    """The coverage in words, by list."""

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
    """Put the rows among those of earlier runs and lay out the page."""
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
    """The kinds of a campaign's cases, in words where it has some."""
    kinds: Mapping[str, str] | Sequence[str] = module.KINDS
    return kinds if isinstance(kinds, Mapping) else dict.fromkeys(kinds, "")


def coverage(module: ModuleType, covered: Collection[str]) -> dict[str, str]:
    """The part of each list of a campaign that a run has covered, and the few items that it has not."""
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
