"""Gradients by both forms on trees with joints of all types, and where joints follow others."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.distances import with_capsules
from support.random_trees import on_a_base, random_tree

import rbdgen
from rbdgen.functions.distances import gradient, nearest
from rbdgen.functions.folded import folded
from rbdgen.functions.table import lookup
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.pipeline.robot import load_robot
from rbdgen.sweeps.inputs import State, coordinates

Array = NDArray[np.float64]

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

SPHERE = [0.7, -0.4, 0.9, 0.1]


def state(model: Model, q: Array) -> State:
    sphere = {"spheres": SPHERE}
    return State(q=coordinates(model, list(map(float, q)), np.cos, np.sin), arrays=sphere)


def values(robot: Model | ReducedModel, q: Array) -> Array:
    model = robot if isinstance(robot, Model) else robot.model
    return np.array(nearest.distances(robot, state(model, q))[0], float)


def jacobian(robot: Model | ReducedModel, q: Array) -> Array:
    model = robot if isinstance(robot, Model) else robot.model
    (argument,) = lookup("distance_jacobian").signature.outputs
    (full,) = gradient.jacobian(robot, state(model, q))
    return np.reshape(np.array(folded(model, argument, full), float), (-1, model.sizes["nv"]))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("floats", [False, True])
def test_gradients_are_those_of_differences(seed: int, floats: bool) -> None:
    model = random_tree(seed, 5)
    model = with_capsules(on_a_base(model) if floats else model, seed)
    manifold, rng = model.manifold, np.random.default_rng(seed)
    q = manifold.random(rng, ())
    step, nv = 1e-6, model.sizes["nv"]
    for robot in (model, reduce(model)):
        J = jacobian(robot, q)
        ahead, behind = (
            np.stack([values(robot, manifold.integrate(q, sign * step * e)) for e in np.eye(nv)], axis=1)
            for sign in (1, -1)
        )
        scale = 1 + np.abs(J).max()
        np.testing.assert_allclose(J, (ahead - behind) / (2 * step), rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(values(model, q), values(reduce(model), q), rtol=0, atol=1e-10 * scale)


def test_bodies_of_the_world_are_left_out_with_obstacles() -> None:
    model = with_capsules(random_tree(1, 3), 1)
    still = replace(model.distances.capsules[0], body=WORLD)
    own = replace(model.distances, capsules=(still, *model.distances.capsules[1:]))
    assert len(own.pairs) == len(model.distances.pairs) - 1


FINGERS = """<robot name="gripper"><link name="base"/>
<link name="wrist">{inertial}<collision><geometry><box size="0.1 0.2 0.1"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="wrist"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
{fingers}</robot>"""

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'

FINGER = """<link name="{0}">{3}<collision><origin xyz="0.05 0 0" rpy="0 1.2 0"/>
  <geometry><cylinder radius="0.01" length="0.08"/></geometry></collision></link>
<joint name="{0}_finger" type="prismatic"><parent link="wrist"/><child link="{0}"/><origin xyz="0.1 0 0"/>
  <axis xyz="0 {1} 0"/><limit lower="0.02" upper="0.1" effort="1" velocity="1"/>{2}</joint>"""


def gripper(mimic: str, folder: Path) -> Model:
    """Two fingers, of which the second mirrors the first at twice its distance."""
    follows = '<mimic joint="left_finger" multiplier="2" offset="0.01"/>'
    fingers = FINGER.format("left", 1, "", INERTIAL) + FINGER.format("right", -1, follows, INERTIAL)
    path = folder / "gripper.urdf"
    path.write_text(FINGERS.format(fingers=fingers, inertial=INERTIAL))
    return load_robot(path, mimic=mimic, pairs="all", obstacles="spheres=1").model  # type: ignore[arg-type]


def test_fingers_that_mimic(tmp_path: Path) -> None:
    """A follower moves with its leader, so gradients are those of independent joints, summed by the ratio."""
    coupled, free = (gripper(mimic, tmp_path) for mimic in ("eliminate", "independent"))
    q, all_q = np.array([0.3, 0.04]), np.array([0.3, 0.04, 0.09])
    assert coupled.distances.names == free.distances.names
    np.testing.assert_allclose(values(coupled, q), values(free, all_q), rtol=0, atol=1e-15)
    ratio = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    for robot in (coupled, reduce(coupled)):
        np.testing.assert_allclose(jacobian(robot, q), jacobian(free, all_q) @ ratio, rtol=0, atol=1e-14)


def test_closed_loops_do_not_change_distances(tmp_path: Path) -> None:
    """Distances are functions of all joints, also where a loop couples them: the rates of all joints on a
    motion of a closed loop give the rates of the distances.
    """
    linkage = runpy.run_path(str(EXAMPLES / "four_bar.py"))
    library = closed_library(linkage["four_bar"](), tmp_path)
    q = linkage["closed"](library, np.array([0.8, -0.5, 1.9]))
    v, _ = library.loop_motion(q, np.array([1.0]), np.array([0.0]))
    rates = library.distance_jacobian(q) @ v
    ahead, behind = (library.distances(linkage["closed"](library, q + sign * 1e-6 * v)) for sign in (1, -1))
    np.testing.assert_allclose(rates, (ahead - behind) / 2e-6, rtol=0, atol=1e-8)
    assert np.abs(rates).max() > 0.1


LINKS = {"crank": 0.3, "coupler": 0.9, "rocker": 0.7}
"""The links of the four-bar and their lengths in m."""


def closed_library(linkage: rbdgen.RobotBuilder, folder: Path) -> Any:
    """The linkage with capsules on its links, which lie side by side."""
    path = folder / "capsules.toml"
    text = '[[capsule]]\nlink = "{}"\nfrom = [0, {}, 0]\nto = [{}, {}, 0]\nradius = 0.02\n'
    path.write_text("".join(text.format(x, 0.1 * k, LINKS[x], 0.1 * k) for k, x in enumerate(LINKS)))
    robot = load_robot(linkage, independent=["crank_joint"], capsules=path, pairs="all")
    functions = ["distances", "distance_jacobian", "loop_position", "loop_jacobian", "loop_motion"]
    return rbdgen.build(robot, functions=functions)
