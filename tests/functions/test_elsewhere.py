"""The names on the page of names exist in the other libraries, and are mapped to functions of rbdgen."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import mujoco
import pinocchio
import pytest

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.functions.elsewhere import MUJOCO, PINOCCHIO, WORDS, Names, elsewhere, meant, page
from rbdgen.functions.table import ALL, lookup

ONLY_IN_CPP = {"ComputeRNEASecondOrderDerivatives"}


@pytest.mark.parametrize(("library", "rows"), [(pinocchio, PINOCCHIO), (mujoco, MUJOCO)])
def test_they_are_names_of_the_library(library: ModuleType, rows: tuple[Names, ...]) -> None:
    names = [name for row in rows for name in row.theirs]
    assert len(set(names)) == len(names) > 25
    assert [name for name in names if not hasattr(library, name) and name not in ONLY_IN_CPP] == []


def test_they_mean_functions() -> None:
    for row in (*PINOCCHIO, *MUJOCO, *WORDS):
        for name in meant(row):
            if name.startswith("lib."):
                assert hasattr(rbdgen.runtime.Library, name[4:-2])
            else:
                assert lookup(name).name == name


def test_words_of_books_are_no_functions_here() -> None:
    assert not {name for row in WORDS for name in row.theirs} & set(ALL)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("computeMinverse", "Pinocchio's computeMinverse is 'minv' here"),
        ("computeAllTerms", "Pinocchio's computeAllTerms is 'crba', 'nle', 'gravity' here"),
        (
            "getFrameJacobian",
            "is 'frame_jacobian_local', 'frame_jacobian_aligned', 'frame_jacobian_world' here",
        ),
        ("mj_inverse", "MuJoCo's mj_inverse is 'rnea' here"),
        ("randomConfiguration", "Pinocchio's randomConfiguration is 'lib.random()' here"),
        ("jacobian", "did you mean 'frame_jacobian_local', 'frame_jacobian_aligned'"),
        ("RNEA", "did you mean 'rnea'"),
    ],
)
def test_errors_know_them(name: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        rbdgen.build("double_pendulum", [name])
    assert said in str(caught.value)
    assert elsewhere("rena") is None


def test_the_page_is_the_table() -> None:
    path = Path(__file__).resolve().parents[2] / "docs" / "names.md"
    assert path.read_text(encoding="utf-8") == page()
