"""The bundled robots are sound and physical, and have the figures from which they were written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from rbdgen.description.schema import Inertial
from rbdgen.description.shapes.read import shapes_of
from rbdgen.description.source import read_description
from rbdgen.description.urdf import read_urdf

ROBOTS = Path(__file__).parents[2] / "robots"
MOVING = {"double_pendulum": 2, "planar3r": 3, "puma560": 6, "arm7": 7, "quadruped12": 12, "humanoid30": 30}


def test_the_bundled_robots_are_these() -> None:
    assert {path.stem for path in ROBOTS.glob("*.urdf")} == set(MOVING)


@pytest.mark.parametrize("name", MOVING)
def test_bundled_robot_is_sound(name: str) -> None:
    """There are no warnings: every inertia is physical, and every link has one, so the base may float."""
    robot = read_urdf(ROBOTS / f"{name}.urdf")
    assert robot.name == name
    assert robot.warnings == ()
    assert sum(joint.type != "fixed" for joint in robot.joints) == MOVING[name]
    assert all(link.inertial is not None and link.inertial.mass > 0.0 for link in robot.links)
    assert all(joint.limit is not None for joint in robot.joints)


@pytest.mark.parametrize("name", MOVING)
def test_bundled_robot_states_its_sources_and_exact_right_angles(name: str) -> None:
    text = (ROBOTS / f"{name}.urdf").read_text()
    assert re.search(r"19\d\d|20\d\d|Exp\[licit\]", text.partition("<robot ")[0])
    assert "mesh" not in text
    right = "1.5707963267948966"
    assert set(re.findall('rpy="(.*?)"', text)) <= {f"{right} 0 0", f"-{right} 0 0", f"0 {right} 0"}


@pytest.mark.parametrize("name", MOVING)
def test_bundled_robot_has_shapes(name: str) -> None:
    """Every link has a visual shape with a colour; the lowest points of feet are those that examples use."""
    description = read_description(name)
    found = shapes_of(description)
    assert found.missing == ()
    visual = [x for x in found.shapes if x.role == "visual"]
    assert {x.link for x in visual} == {link.name for link in description.links}
    assert all(x.color is not None and min(x.size) > 0 for x in visual)
    collision = [x for x in found.shapes if x.role == "collision"]
    soles = {
        "quadruped12": [-0.2085] * 4,
        "humanoid30": [-0.0679] * 2,
    }
    feet = [x for x in collision if x.link.endswith(("_shank", "_foot"))]
    lowest = [x.placement.translation.z - (x.size[0] if x.kind == "sphere" else x.size[2] / 2) for x in feet]
    assert lowest == pytest.approx(soles.get(name, []))


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", MOVING)
def test_pinocchio_reads_the_same_robot_with_a_regular_mass_matrix(name: str, floating: bool) -> None:
    path = str(ROBOTS / f"{name}.urdf")
    model = (
        pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
    )
    assert model.nv == MOVING[name] + 6 * floating
    M = pin.crba(model, model.createData(), pin.neutral(model))
    M = np.triu(M) + np.triu(M, 1).T
    assert np.linalg.eigvalsh(M).min() > 1e-6


def test_puma560_reproduces_published_torques_and_inertias() -> None:
    """The gravity torques and M at qn = (0, pi/4, pi, 0, pi/4, 0) agree with P. Corke's four digits.

    They are printed in Robotics, Vision and Control, Springer 2011, chapter 9, where M includes the rotors,
    G^2 Jm.
    """
    model = pin.buildModelFromUrdf(str(ROBOTS / "puma560.urdf"))
    qn = np.array([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])
    gravity = pin.computeGeneralizedGravity(model, model.createData(), qn)
    np.testing.assert_allclose(gravity, [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0], atol=5e-5)
    M = np.triu(pin.crba(model, model.createData(), qn))
    gear = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
    rotor = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])
    M += np.diag(gear**2 * rotor)
    np.testing.assert_allclose(np.diag(M), [3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941], atol=5e-5)
    published = [M[0, 1], M[0, 2], M[0, 3], M[1, 2], M[1, 4], M[2, 4]]
    np.testing.assert_allclose(published, [-0.4044, 0.1006, -0.0025, 0.3509, 0.0024, 0.0015], atol=5e-5)


def test_humanoid30_weighs_and_measures_what_its_source_says() -> None:
    model = pin.buildModelFromUrdf(str(ROBOTS / "humanoid30.urdf"), pin.JointModelFreeFlyer())
    assert pin.computeTotalMass(model) == pytest.approx(73.0, rel=1e-5)


@pytest.mark.parametrize("name", ["quadruped12", "humanoid30"])
def test_legs_and_arms_are_mirrored(name: str) -> None:
    """Left limbs are right limbs with opposite signs of y in positions, and of xy and yz in inertias."""
    robot = read_urdf(ROBOTS / f"{name}.urdf")

    def mirrored(body: Inertial | None) -> tuple[float, ...]:
        assert body is not None
        x, y, z = body.origin.xyz
        return (x, -y, z, body.mass, body.ixx, -body.ixy, body.ixz, body.iyy, -body.iyz, body.izz)

    def plain(body: Inertial | None) -> tuple[float, ...]:
        assert body is not None
        return (*body.origin.xyz, body.mass, body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz)

    links = {link.name: link for link in robot.links}
    joints = {joint.name: joint for joint in robot.joints}
    left_links = [link for link in links if "left" in link]
    left_joints = [joint for joint in joints if "left" in joint]
    assert len(left_links) == len(left_joints) >= 6
    for link in left_links:
        assert plain(links[link.replace("left", "right")].inertial) == mirrored(links[link].inertial)
    for joint in left_joints:
        x, y, z = joints[joint].origin.xyz
        assert joints[joint.replace("left", "right")].origin.xyz == (x, -y, z)
