"""Operation counts of the textbook's forms on the bundled robots, pinned to the last operation.

Each robot has a table in `tests/golden/operation_counts/`, which shows every change that saves or adds
operations. No pass has run: the savings of factoring and of cheaper forms are counted elsewhere.
`pytest --update-golden` writes the tables anew, for the diff to be read.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.few import few
from support.forms import FORMS, graph_of
from support.robots import BASES, BUNDLED, robot

from rbdgen.graph.cost import cost

TEXTBOOK = [
    form for form in FORMS if not form.form.reduced and form.form.worth_trying(robot("double_pendulum").model)
]

KINDS = ("add", "sub", "mul", "div", "neg", "sq", "sqrt", "sin", "cos")
"""The kinds of operations that occur, as the robots have no friction, and these forms no lanes."""


def table(name: str) -> str:
    """A line for each base and form: the total, then the number of each kind of operation."""
    rows = [("base", "form", "total", *KINDS)]
    for base in BASES:
        for form in TEXTBOOK:
            counts = cost(graph_of(form, name, base, engine="graph"))
            numbers = (counts.total, *(getattr(counts, kind) for kind in KINDS))
            rows.append((base, str(form), *map(str, numbers)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        words += [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(words))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", few([x for x in BUNDLED if x != "humanoid30"], BUNDLED))
def test_pinned(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"operation_counts/{name}.txt", table(name))


def test_a_double_pendulum_by_hand() -> None:
    """M takes the cosine of the elbow and sums, as the lengths and masses that would multiply it are 1."""
    (crba,) = (form for form in TEXTBOOK if form.function.name == "crba")
    counts = cost(graph_of(crba, "double_pendulum", engine="graph"))
    assert (counts.trigonometric, counts.multiplications, counts.div) == (1, 0, 0)
    assert counts.total == 1 + counts.additions
