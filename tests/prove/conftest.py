"""The tool that proofs need."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture
def frama_c() -> None:
    """Skips the test, or lets it fail in CI, if Frama-C is missing."""
    if shutil.which("frama-c") is None:
        word = "missing: frama-c; Debian: apt-get install --no-install-recommends frama-c-base"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(word)
        pytest.skip(word)
