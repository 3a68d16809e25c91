"""A small part of every campaign finds no failures; the page and the command of the campaigns."""

from __future__ import annotations

import json

import pytest
from support.campaign import run_apart
from support.few import few

from campaigns import forms
from campaigns.__main__ import FOLDER, campaigns, main
from campaigns.page import coverage, page
from campaigns.robots import KINDS, case_of, run_case
from campaigns.tally import total

SEED = 20
"""A seed other than that of the table, so that `make attack` and this test try different cases."""

SMALL = 10

OTHERS = tuple(name for name in campaigns() if name != "robots")


@pytest.mark.parametrize("name", few([name for name in OTHERS if name != "pytorch"], OTHERS))
def test_campaign(name: str) -> None:
    module = campaigns()[name]
    if name == "pytorch":
        pytest.importorskip("torch")
    tally = run_apart(name, SEED, getattr(module, "SMALL", SMALL))
    assert tally.tried > 0
    assert tally.failed == 0, "\n".join(tally.notes)


@pytest.mark.parametrize("kind", KINDS)
def test_robots(kind: str) -> None:
    """Two robots of every kind are tried; a few functions are designed, and two are compiled."""
    first = list(KINDS).index(kind)
    tally = total(run_case(SEED, number) for number in (first, first + len(KINDS)))
    assert tally.tried == 2
    assert tally.failed == 0, "\n".join(tally.notes)


def test_what_a_campaign_covers() -> None:
    every = forms.COVERED["forms of functions"]
    assert {"rnea-limbs", "contact_aba-moments", "minv-columns"} <= set(every)
    told = coverage(forms, every[1:])
    assert told["forms of functions"] == f"{len(every) - 1} of {len(every)}, without {every[0]}"
    assert told["forms of functions, compiled"] == f"0 of {len(every)}"


def test_the_same_seed_makes_the_same_robot() -> None:
    for number in range(len(KINDS)):
        assert case_of(3, number).plan.urdf == case_of(3, number).plan.urdf
        assert case_of(3, number).plan.urdf != case_of(4, number).plan.urdf


def test_the_page_is_that_of_the_counts() -> None:
    counts = json.loads((FOLDER / "counts.json").read_text(encoding="utf-8"))
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == page(counts, campaigns())


def test_one_case_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "robots", "--seed", "20", "--case", "1"]) == 0
    assert "tried 1" in capsys.readouterr().out
    assert main(["--only", "files", "--case", "3"]) == 0
    assert "tried 1" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--case", "1", "--only", "robots", "--size", "3", "--write"])
    assert "one case of one campaign" in capsys.readouterr().err
