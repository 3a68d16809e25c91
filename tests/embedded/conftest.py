"""Tests that need cross tools: skipped with a word where those are missing, failing in CI."""

from __future__ import annotations

import os

import pytest
from embedded.board import missing_tools


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder `embedded`."""
    for item in items:
        if "tests/embedded/" in item.path.as_posix():
            item.add_marker(pytest.mark.embedded)


@pytest.fixture(autouse=True, scope="session")
def tools() -> None:
    """Skip, or in CI fail, where a tool is missing."""
    if missing := missing_tools():
        word = (
            f"missing: {', '.join(missing)}; Debian: apt-get install --no-install-recommends "
            "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm cppcheck cmake"
        )
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(word)
        pytest.skip(word)
