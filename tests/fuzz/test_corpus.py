"""The fuzzer's corpus, with all kinds of elements and inputs that once failed, without the fuzzer."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.urdf_judge import check_message, judge

from rbdgen.description.quoting import escaped, quoted

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.urdf"))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_files_of_the_corpus_make_a_sound_robot_or_one_good_line(path: Path) -> None:
    judge(path.read_bytes())


def test_the_corpus_holds_files_of_both_verdicts() -> None:
    assert {judge(path.read_bytes()) for path in CORPUS} == {"robot", "refused"}


@pytest.mark.parametrize(
    "message", ["some.urdf:2: a", "some.urdf:1: a\u202e", f"some.urdf:1: {'a' * 600}", "other.urdf:1: a", "a"]
)
def test_the_judge_knows_a_bad_message(message: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        check_message(message, b"one line")


@pytest.mark.parametrize("name", ["\U000e0001" * 80, "a" * 10_000, "'\"\\\n" * 50, ""])
def test_names_in_messages_are_short_and_printable(name: str) -> None:
    assert quoted(name).isprintable()
    assert len(quoted(name)) <= 83
    assert escaped(name) == quoted(name)[1:-1]
