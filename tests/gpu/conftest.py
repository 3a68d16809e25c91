"""A folder of kernels, and a driver without a GPU that runs them on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.driver import StandIn, compiled
from support.tools import need, need_modules

import rbdgen
from rbdgen.gpu.library import KernelLibrary

FUNCTIONS = ["rnea", "aba", "step"]


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the kernels of the double pendulum, in float."""
    need_modules("nvidia", packages="nvidia-cuda-nvrtc")
    place = tmp_path_factory.mktemp("kernels")
    return rbdgen.generate("double_pendulum", place, FUNCTIONS, target="cuda", real="float")


@pytest.fixture(scope="session")
def compiled_driver(kernels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("g++", packages="g++")
    return compiled(kernels, tmp_path_factory.mktemp("driver"))


@pytest.fixture
def driver(compiled_driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A driver that no other test has used."""
    made = StandIn(compiled_driver, tmp_path)
    monkeypatch.setenv("RBDGEN_LIBCUDA", str(made.path))
    return made


@pytest.fixture
def lib(kernels: Path, driver: StandIn) -> Iterator[KernelLibrary]:
    """The library of the folder. After the test, no call has failed late."""
    found = rbdgen.load(kernels)
    assert isinstance(found, KernelLibrary)
    yield found
    driver.finish()
