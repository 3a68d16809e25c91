"""The options of distances, and the capsules that a description has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.shapes import urdf

import rbdgen
from rbdgen.description.capsules import Obstacles
from rbdgen.errors import RbdgenError

QUADRUPED = "quadruped12"


def refusal(**options: Any) -> str:
    with pytest.raises(RbdgenError) as error:
        rbdgen.load_robot(QUADRUPED, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("given", ["spheres=8,boxes=2", {"spheres": 8, "boxes": 2}])
def test_obstacles(given: Any) -> None:
    robot = rbdgen.load_robot(QUADRUPED, obstacles=given)
    assert robot.model.distances.obstacles == Obstacles(spheres=8, boxes=2)
    assert robot.model.sizes["npairs"] == 4 * 10
    assert robot.model.distances.names[4] == "sphere[1]~front_left_shank/0"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"obstacles": "tori=1"}, "obstacles: 'tori' is not known; choose from: spheres, capsules"),
        ({"obstacles": "sphere=1"}, "did you mean 'spheres'"),
        ({"obstacles": "spheres=-1"}, "obstacles: spheres=-1 is no number from 0 to 1000; give one"),
        ({"obstacles": "spheres"}, "obstacles: spheres= is no number"),
        ({"obstacles": 3}, "obstacles 3 are no numbers"),
        ({"pairs": "some"}, "some: "),
        ({"distance": "exact"}, "distance is an option of distances, and none are wanted; give pairs='auto'"),
        ({"softmin": 5.0}, "softmin is an option of distances"),
        ({"distance_floor": 1e-3}, "distance_floor is an option of distances"),
        ({"groups": {"a": ["*"]}}, "groups is an option of distances"),
        ({"pairs": "auto", "distance": "quick"}, "distance 'quick' is not known; choose plain or exact"),
        ({"pairs": "auto", "distance_floor": -1}, "distance_floor -1 is not a number in range"),
        ({"pairs": "auto", "softmin": float("nan")}, "softmin nan is not a number in range"),
        ({"pairs": "auto", "groups": {"a": "*"}}, "groups: group 'a' is no list of patterns"),
        ({"pairs": "auto", "groups": {}}, "groups: no groups"),
        ({"pairs": "auto", "groups": {"a": ["none*"]}}, "group 'a' has no pair; give patterns"),
        ({"pairs": "auto", "groups": "missing.toml"}, "missing.toml: No such file or directory"),
    ],
)
def test_bad_options_are_told_in_one_line(options: dict[str, Any], told: str) -> None:
    assert told in refusal(**options)


def test_groups_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "groups.toml").write_text('front = ["front_*~front_*"]\nall = ["*~*"]\n')
    robot = rbdgen.load_robot(QUADRUPED, pairs="auto", groups=tmp_path / "groups.toml")
    assert [name for name, _ in robot.model.distances.groups] == ["front", "all"]
    assert [len(pairs) for _, pairs in robot.model.distances.groups] == [1, 6]
    (tmp_path / "groups.toml").write_text("front = [")
    assert "groups.toml" in refusal(pairs="auto", groups=str(tmp_path / "groups.toml"))


def test_a_cylinder_with_spheres_at_its_ends_is_a_capsule(tmp_path: Path) -> None:
    def of(geometry: str, z: float) -> str:
        return f'<collision><origin xyz="0 0 {z}"/><geometry>{geometry}</geometry></collision>'

    rod = '<cylinder radius="0.05" length="0.4"/>'
    ends = "".join(of('<sphere radius="0.05"/>', z) for z in (-0.1, 0.3))
    path = tmp_path / "robot.urdf"
    path.write_text(urdf(of(rod, 0.1) + ends + of('<sphere radius="0.2"/>', 1.0)))
    robot = rbdgen.load_robot(path, obstacles="spheres=1")
    found = robot.model.distances.capsules
    assert [(x.half_length, x.radius) for x in found] == [(0.2, 0.05), (0.0, 0.2)]
    assert tuple(found[0].center) == pytest.approx((0, 0, 0.1))


def test_a_robot_without_such_shapes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(urdf(""))
    with pytest.raises(RbdgenError, match="its links have no shapes for collision"):
        rbdgen.load_robot(tmp_path / "robot.urdf", pairs="auto")


def test_functions_of_distances_need_pairs() -> None:
    with pytest.raises(RbdgenError, match="function 'distances' needs pairs with distances"):
        rbdgen.build("arm7", functions=["distances"])
