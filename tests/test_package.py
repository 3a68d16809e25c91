"""The names that `import rbdgen` gives."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdgen


def test_names_are_the_public_ones() -> None:
    assert dir(rbdgen) == sorted(rbdgen.__all__)
    assert all(getattr(rbdgen, name) is not None for name in dir(rbdgen))


def test_the_example_of_the_docstring_runs_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rbdgen.__doc__ is not None
    names: dict[str, Any] = {}
    exec(textwrap.dedent(rbdgen.__doc__.partition("\n\n")[2].partition("\n\nImporting")[0]), names)
    assert names["tau"].shape == (7,)
    np.testing.assert_array_equal(names["tau"], names["lib"].rnea(*np.zeros((3, 7))))
