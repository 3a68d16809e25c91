"""Fixtures that all tests share: golden files, and a cache of builds for the test run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from support.few import sample
from support.session import quick_compiler, shared_cores, verified_printers

from rbdgen.toolchain.cache import Cache

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files again, to be reviewed by git diff",
    )
    parser.addoption(
        "--sample",
        type=int,
        metavar="SEED",
        help="run only a sample of long tables, in which each value of each argument occurs",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--sample")
    return None if seed is None else f"sample: --sample {seed} gives it again"


@pytest.hookimpl(trylast=True)  # after -m has removed tests
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--sample`, keeps only a sample of the rows of each table that is marked as sampled."""
    seed = config.getoption("--sample")
    if seed is None:
        return
    tables: dict[tuple[str, tuple[str, ...]], list[pytest.Item]] = {}
    for item in items:
        for mark in item.iter_markers("campaign"):
            if mark.kwargs.get("sampled"):
                tables.setdefault((item.nodeid.partition("[")[0], mark.kwargs["together"]), []).append(item)
                break
    left_out: set[pytest.Item] = set()
    for (name, together), rows in tables.items():
        taken = set(sample([_values(item) for item in rows], Random(f"{seed} {name}"), together))
        left_out.update(item for k, item in enumerate(rows) if k not in taken)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _values(item: pytest.Item) -> dict[str, str]:
    """The arguments of a case as texts, by name."""
    spec = getattr(item, "callspec", None)
    return {} if spec is None else {name: str(value) for name, value in spec.params.items()}


@pytest.fixture(scope="session")
def sample_seed(request: pytest.FixtureRequest) -> int:
    """The seed of `--sample`, or 0, from which random tests draw."""
    return int(request.config.getoption("--sample") or 0)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with a file of tests/golden; with --update-golden writes it."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{name} is missing; run pytest with --update-golden and look at it"
        assert text == path.read_text(encoding="utf-8"), (
            f"{name}: run with --update-golden and look at git diff"
        )

    return compare


@pytest.fixture(scope="session")
def build_cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """The cache of builds of this run, which its tests share and which is not the user's."""
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def _printers_verify() -> Iterator[None]:
    with verified_printers():
        yield


@pytest.fixture(scope="session", autouse=True)
def _cores() -> Iterator[None]:
    with shared_cores():
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiler(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compiles large sources without optimisation, unless campaigns or many random examples are run."""
    if request.config.getoption("markexpr") != "not campaign":
        yield
        return
    with quick_compiler(tmp_path_factory.mktemp("compiler")):
        yield


@pytest.fixture(scope="session", autouse=True)
def _user_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Gives the pipeline one cache of designs and builds for all workers of this run, separate from the
    user's.

    Processes that tests start also share a cache of bytecode, without which they would compile all modules
    each time.
    """
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RBDGEN_CACHE", str(root / "rbdgen-cache"))
        patch.setenv("RBDGEN_CACHE_SIZE", "unlimited")
        patch.setenv("PYTHONPYCACHEPREFIX", str(root / "bytecode"))
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield
