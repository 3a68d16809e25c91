"""Tests that need cross tools are skipped with a message if these are missing, and fail in CI."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
from embedded.board import RISCV_TOOLS, TOOLS, missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder as `embedded`."""
    for item in items:
        if "tests/embedded/" in item.path.as_posix():
            item.add_marker(pytest.mark.embedded)


@pytest.fixture(autouse=True, scope="session")
def tools() -> None:
    """Requires the tools for Cortex-M, which every test needs."""
    need(TOOLS, "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm cppcheck cmake")


@pytest.fixture(autouse=True)
def riscv_tools(request: pytest.FixtureRequest) -> None:
    """Requires the tools for the RISC-V board in tests on it."""
    parameters = getattr(request.node, "callspec", None)
    if parameters is not None and parameters.params.get("board") == "rv32imafc":
        need(RISCV_TOOLS, "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc")


def need(programs: Sequence[str], packages: str) -> None:
    """Skips the test, or lets it fail in CI, if a program is missing."""
    if absent := missing(programs):
        word = f"missing: {', '.join(absent)}; Debian: apt-get install --no-install-recommends {packages}"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(word)
        pytest.skip(word)
