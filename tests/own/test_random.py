"""Random texts over small robots: the simplified graph has the values of the text on floats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.few import examples

import rbdgen
from rbdgen.functions.composed import composed
from rbdgen.functions.function import Function
from rbdgen.functions.table import ALL, lookup
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph
from rbdgen.model.build import Robot
from rbdgen.own.text import OwnFunction
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser

FOLLOWER = """
<robot name="follower">
  <link name="base"/>
  <link name="a"><inertial><mass value="1.2"/><origin xyz="0.1 0.02 0.3"/>
    <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0.002" izz="0.01"/></inertial></link>
  <link name="b"><inertial><mass value="0.7"/><origin xyz="0.05 0 0.2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <link name="c"><inertial><mass value="0.4"/><origin xyz="0.02 0.1 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.02"/></inertial></link>
  <joint name="one" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="9" velocity="9"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="two" type="prismatic"><parent link="a"/><child link="b"/>
    <origin xyz="0 0 0.5" rpy="0.3 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
  <joint name="three" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.2 0 0.1"/>
    <axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="9" velocity="9"/>
    <mimic joint="one" multiplier="0.5" offset="0.2"/></joint>
</robot>
"""

ROBOTS = ("pendulum", "planar", "follower")

LEFT_OUT = {"regressor_base"}
"""Rows that are not drawn, because the sizes of their outputs are found only by an analysis of the robot."""


@cache
def robot(name: str, tmp: str) -> Robot:
    if name == "pendulum":
        return rbdgen.load_robot("double_pendulum", frames=["lower"])
    if name == "planar":
        contacts = [rbdgen.Point("tip", "link3", (0.1, 0, 0))]
        return rbdgen.load_robot("planar3r", base="floating", contacts=contacts)
    path = Path(tmp) / "follower.urdf"
    path.write_text(FOLLOWER, encoding="utf-8")
    return rbdgen.load_robot(path, damping=True, friction=("smooth", 0.1))


def callable_rows(model: Any) -> list[Function]:
    """The rows that a text may call with vectors of the robot alone."""
    known = {"configuration", "velocity", "acceleration", "force", "time_step"}
    rows = [row for name, row in ALL.items() if not row.missing(model) and name not in LEFT_OUT]
    return [row for row in rows if not row.basis and {x.kind for x in row.signature.inputs} <= known]


def values(robot: Any, kind: str, choice: int, x: dict[str, Any]) -> Any:
    """An expression for an argument of this kind."""
    v = [x["v"], x["a"], 0.3 * x["v"] - x["a"], np.ones(robot.nv), np.tanh(x["v"])]
    if kind == "configuration":
        return [x["q"], robot.integrate(x["q"], 0.1 * x["v"])][choice % 2]
    if kind == "time_step":
        return [0.01, abs(x["v"][0]) * 0.01][choice % 2]
    return v[choice % len(v)]


def reduced(found: Any, choice: int) -> Any:
    """One number from an output."""
    flat = np.ravel(found)
    ways = [lambda: np.sum(np.tanh(flat)), lambda: np.min(flat), lambda: np.clip(flat, -1, 1) @ flat]
    return ways[choice % len(ways)]()


def text_of(rows: Sequence[str], choices: Sequence[int], model: Any) -> OwnFunction:
    def text(robot: Any, q: Any, v: Any, a: Any) -> Any:
        x = {"q": q, "v": v, "a": a}
        total = 0.1 * v[0]
        for k, name in enumerate(rows):
            signature = lookup(name, model).signature
            drawn = [choices[(k + j) % len(choices)] for j in range(len(signature.inputs))]
            kinds = [y.kind for y in signature.inputs]
            taken = [values(robot, *y, x) for y in zip(kinds, drawn, strict=True)]
            found = getattr(robot, name)(*taken)
            parts = found if isinstance(found, tuple) else (found,)
            for part in parts:
                total = total + reduced(part, choices[k % len(choices)])
        return total

    made: OwnFunction = rbdgen.function(outputs={"y": "1"}, name="drawn")(text)
    return made


def simplified(function: OwnFunction, robot: Robot) -> Graph:
    row = composed(function.composition(robot), robot.model)
    program = Chooser(robot.model, search(robot.model), "graph").choose(row).program
    assert program.straight is not None
    return program.straight


@pytest.mark.parametrize("name", ROBOTS)
@settings(max_examples=examples(4, 60), deadline=None)
@given(data=st.data())
def test_random_texts(name: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    made = robot(name, str(tmp_path_factory.getbasetemp()))
    names = sorted(row.name for row in callable_rows(made.model))
    rows = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    choices = data.draw(st.lists(st.integers(0, 14), min_size=3, max_size=3))
    function = text_of(rows, choices, made.model)
    graph = simplified(function, made)
    q = made.model.manifold.random(np.random.default_rng(1))
    v, a = np.random.default_rng(2).normal(size=(2, made.nv))
    expected = function(made, q, v, a)
    assert evaluate(graph, {"q": q, "v": v, "a": a})["y"] == pytest.approx(expected, rel=1e-8, abs=1e-8)
