"""Functions that are designed together share work, and are those that are designed alone."""

from __future__ import annotations

from typing import Any

import pytest

import rbdgen
from rbdgen.options import Options
from rbdgen.pipeline import workers
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.selection import differentiate

DERIVATIVES = ("rnea_vjp", "rnea_jvp", "rnea_hvp")


def test_derivatives_on_one_core_share_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "available_cores", lambda: 1)
    chosen: list[str] = []
    choose = differentiate.choose

    def noted(function: Any, *arguments: Any, **options: Any) -> Any:
        chosen.append(function.name)
        return choose(function, *arguments, **options)

    monkeypatch.setattr(differentiate, "choose", noted)
    robot = rbdgen.load_robot("double_pendulum")
    together = design_functions(Request(robot, Options(functions=DERIVATIVES)))
    assert chosen.count("rnea") == 1
    alone = [design_functions(Request(robot, Options(functions=(name,))))[0] for name in DERIVATIVES]
    assert chosen.count("rnea") == 1 + len(DERIVATIVES)
    assert [source.program for source in together] == [source.program for source in alone]
