"""The inputs of the benchmark of distances, and what the page tells of its results.

The peer's program takes minutes to compile, and the benchmark checks its values; here coal's Python module
reads the same file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest
from support.distances import arm, reach
from support.robots import BUNDLED

from benchmarks import bench, distances
from benchmarks.peers import pinocchio_cpp
from benchmarks.toolchain import ToolError
from rbdgen import resources
from rbdgen.functions.distances import nearest
from rbdgen.sweeps.inputs import State, coordinates


def by_coal(text: str, model: pin.Model, q: np.ndarray) -> np.ndarray:
    """The distances of the pairs in a file of shapes."""
    lines = [np.array(line.split(), float) for line in text.splitlines()]
    count = int(lines[0][0])
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    placed = []
    for joint, radius, half, *numbers in lines[1 : count + 1]:
        at = data.oMi[int(joint)] * pin.SE3(np.reshape(numbers[:9], (3, 3)), np.array(numbers[9:]))
        shape = coal.Capsule(radius, 2 * half) if half else coal.Sphere(radius)
        placed.append((shape, coal.Transform3s(at.rotation, at.translation)))
    pairs = lines[count + 2 :]
    assert len(pairs) == int(lines[count + 1][0])
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    return np.array(
        [coal.distance(*placed[int(i)], *placed[int(j)], request, coal.DistanceResult()) for i, j in pairs]
    )


def test_both_sides_measure_the_same_pairs() -> None:
    robot = arm()
    model = pinocchio_cpp.load_model(BUNDLED["arm7"], floating=False)
    ball = np.array([[0.6, 0.1, 0.4, 0.05]])
    text = distances.shapes_text(robot.model, list(model.names), ball)
    q = np.linspace(-0.6, 0.9, 7)
    found = by_coal(text, model, q)
    x = State(q=coordinates(robot.model, list(q), np.cos, np.sin))
    ((*expected,),) = nearest.distances(robot.model, x)
    np.testing.assert_allclose(found, np.array(expected, float), rtol=0, atol=1e-9)


def test_spheres_of_the_world_are_shapes() -> None:
    model = pinocchio_cpp.load_model(BUNDLED["planar3r"], floating=False)
    robot = reach()
    text = distances.shapes_text(robot.model, list(model.names), np.array([[1.2, 0.3, 0.4, 0.1]]))
    q = np.array([0.4, 0.5, 0.6])
    x = State(q=coordinates(robot.model, list(q), np.cos, np.sin), arrays={"spheres": [1.2, 0.3, 0.4, 0.1]})
    ((*expected,),) = nearest.distances(robot.model, x)
    np.testing.assert_allclose(by_coal(text, model, q), np.array(expected, float), rtol=0, atol=1e-7)


def test_wrong_values_are_not_timed() -> None:
    d, J = np.ones((2, 3)), np.ones((2, 3 * 7))
    theirs = [[row.tolist(), slopes.tolist()] for row, slopes in zip(d, J, strict=True)]
    regular = np.array([[True, True, False], [True, True, True]])
    J[0, -1] += 1e-3  # of a pair whose gradient is not unique
    assert distances.difference(theirs, [d, J], regular) == 0
    J[1, 4] += 1e-3
    with pytest.raises(ToolError, match="off from those of Pinocchio and coal"):
        distances.difference(theirs, [d, J], regular)


def test_the_option_selects_robots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[tuple[str, int]] = []
    monkeypatch.setattr(distances, "report", lambda case, links: seen.append((case.name, links)) or {})
    monkeypatch.setattr(distances, "table", lambda _: "")
    monkeypatch.setattr(distances, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["bench", "--distances", "panda", "--relinks", "3"])
    bench.main()
    assert seen == [("panda", 3)]
    assert [path.name for path in tmp_path.iterdir()] == ["distances_panda.json"]
    with pytest.raises(ToolError, match="--distances has no robot atlas; choose from: arm7, panda"):
        distances.measure_all(["atlas"], 1)


@pytest.mark.parametrize("name", [case.name for case in distances.CASES])
def test_the_page_tells_the_results(name: str) -> None:
    found = json.loads((distances.RESULTS / f"distances_{name}.json").read_text(encoding="utf-8"))
    page = (resources.package_root().parents[1] / "docs/distances.md").read_text(encoding="utf-8")
    for line in distances.lines_of_page(found):
        assert line in page
