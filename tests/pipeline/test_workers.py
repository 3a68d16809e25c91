"""Work in several processes: results are in order, and an error in one process is raised."""

from __future__ import annotations

import pytest

from rbdgen.emit.names import check_robot_name
from rbdgen.errors import EmitError
from rbdgen.pipeline import workers
from rbdgen.pipeline.workers import in_parallel


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets designs use two cores, however many this worker of the test run has."""
    monkeypatch.setattr(workers, "available_cores", lambda: 2)


def test_results_are_in_the_order_of_the_tasks() -> None:
    names, begun, ended = ["first", "second", "third"], list[str](), list[str]()
    results = in_parallel(check_robot_name, {name: name for name in names}, begun.append, ended.append)
    assert list(results.items()) == [(name, name) for name in names]
    assert sorted(begun) == sorted(ended) == sorted(names)


def test_an_error_is_raised_here() -> None:
    with pytest.raises(EmitError, match="'class' is not usable as"):
        in_parallel(check_robot_name, {"right": "robot", "wrong": "class"}, print, print)
