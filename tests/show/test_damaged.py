"""Damaged robots and meshes are drawn as far as they can be read, and lines say what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from support.robots import BUNDLED, PUBLIC
from support.urdf_mutation import mutated

from rbdgen.errors import DescriptionError, RbdgenError
from rbdgen.pipeline.robot import load_robot
from rbdgen.show.collada import read_collada
from rbdgen.show.plausible import implausible
from rbdgen.show.shapes import drawn

MJCF = """<mujoco model="m"><asset><material name="red" rgba="1 0 0 1"/></asset><worldbody>
  <geom type="plane" size="1 1 1"/><body name="trunk"><freejoint/>
    <geom type="ellipsoid" size=".1 .2 .3" material="red"/><geom type="box" size="1 1 1" group="3"/>
    <body name="leg" pos=".1 0 0"><joint axis="0 1 0"/>
      <geom type="capsule" size=".1" fromto="0 0 0 0 0 1" rgba="0 1 0 .5"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("name", ["double_pendulum", "quadruped12", "mjcf"])
def test_a_damaged_robot(name: str, tmp_path: Path) -> None:
    text = MJCF.encode() if name == "mjcf" else BUNDLED[name].read_bytes()
    path = tmp_path / "robot"
    missing = read = 0
    for seed in range(150):
        path.write_bytes(mutated(text, Random(seed)))
        try:
            robot = load_robot(path)
        except RbdgenError:
            continue
        found = drawn(robot)
        warnings, _ = implausible(robot)
        json.loads(json.dumps(found.links, allow_nan=False))
        assert all(line.isprintable() for line in (*found.missing, *warnings))
        missing, read = missing + bool(found.missing), read + 1
    assert read > 15
    assert missing > 3 or name == "mjcf"


def test_a_damaged_mesh() -> None:
    """Every damage gives the surfaces that are left, or one line."""
    path = PUBLIC["anymal"].parents[1] / "meshes/foot/anymal_foot.dae"
    data = path.read_bytes()
    refused = 0
    for seed in range(100):
        try:
            read_collada(mutated(data, Random(seed)), "a.dae")
        except DescriptionError as error:
            refused += str(error).isprintable()
    assert 10 < refused < 100
