"""Inertias that no mass within the shapes has are told, and no other ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.robots import BUNDLED, PUBLIC
from support.shapes import visual

from rbdgen.pipeline.robot import load_robot
from rbdgen.show.ellipsoid import ellipsoid_of
from rbdgen.show.plausible import implausible

BOX = visual('<box size="0.2 0.4 1"/>')


def solid(x: float, y: float, z: float) -> tuple[float, float, float]:
    """The principal moments of a solid box of 1 kg."""
    return (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12


def told(
    folder: Path,
    moments: tuple[float, ...],
    shapes: str = BOX,
    com: tuple[float, ...] = (0, 0, 0),
    more: str = "",
    mass: float = 1.0,
) -> list[str]:
    """The warnings of a body, without its name. `moments` are ixx, iyy, izz and, if given, ixy, ixz, iyz."""
    ixx, iyy, izz, ixy, ixz, iyz = map(float, (*moments, *[0] * (6 - len(moments))))
    inertial = (
        f'<inertial><origin xyz="{" ".join(map(repr, com))}"/><mass value="{mass!r}"/><inertia ixx="{ixx!r}" '
        f'iyy="{iyy!r}" izz="{izz!r}" ixy="{ixy!r}" ixz="{ixz!r}" iyz="{iyz!r}"/></inertial>'
    )
    path = folder / "robot.urdf"
    path.write_text(
        f'<robot name="r"><link name="base"/><link name="arm">{inertial}{shapes}</link>{more}'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        "</joint></robot>"
    )
    warnings, unread = implausible(load_robot(path))
    assert unread == []
    start = f"{path}: body 'arm': "
    assert all(text.startswith(start) and text.isprintable() for text in warnings)
    return [text.removeprefix(start) for text in warnings]


@pytest.mark.parametrize("factor", [0.05, 0.3, 1.0, 2.5])
def test_a_solid_box_fits(tmp_path: Path, factor: float) -> None:
    """So does one that is filled at its surface, or near its middle, alone."""
    moments = tuple(factor * x for x in solid(0.2, 0.4, 1.0))
    assert told(tmp_path, moments) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(*[st.floats(-1, 1)] * 3, st.floats(0.01, 1)), min_size=2, max_size=6),
    st.tuples(*[st.floats(0.05, 1)] * 3),
)
def test_no_mass_within_the_shapes_is_too_large_or_outside(
    tmp_path: Path, points: list[tuple[float, ...]], size: tuple[float, ...]
) -> None:
    """Whatever points of mass there are in a box."""
    rows = np.array(points)
    places, masses = rows[:, :3] * np.array(size) / 2, rows[:, 3]
    com = masses @ places / masses.sum()
    away = places - com
    J = np.einsum("k,kij->ij", masses, (away**2).sum(axis=1)[:, None, None] * np.eye(3))
    J -= np.einsum("k,ki,kj->ij", masses, away, away)
    assume(np.linalg.eigvalsh(J)[0] > 1e-6)  # else nothing resists the joint, or hardly anything
    moments = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    shape = visual(f'<box size="{size[0]!r} {size[1]!r} {size[2]!r}"/>')
    said = told(tmp_path, moments, shape, tuple(com.tolist()), mass=float(masses.sum()))
    assert not [text for text in said if "too small" not in text]


def test_an_inertia_in_another_unit_is_too_large(tmp_path: Path) -> None:
    moments = tuple(1000 * x for x in solid(0.2, 0.4, 1.0))
    (line,) = told(tmp_path, moments)
    assert line == (
        "its inertia is too large for its shapes: a solid ellipsoid with it is 41 m long, along an axis "
        "where its shapes span 1 m; check the unit and the axes of its inertia"
    )


def test_an_inertia_about_other_axes_is_too_large(tmp_path: Path) -> None:
    """As a whole it would fit."""
    (line,) = told(tmp_path, solid(1.0, 0.4, 0.2), visual('<box size="0.2 0.4 1"/>'))
    assert "a solid ellipsoid with it is 1.3 m long, along an axis where its shapes span 0.2 m" in line


def test_an_inertia_that_is_too_small(tmp_path: Path) -> None:
    (line,) = told(tmp_path, (1e-5, 1e-5, 1e-5))
    assert line == (
        "its inertia is too small for its shapes: a solid ellipsoid with it is 0.01 m long, they span 1 m; "
        "check the unit and the axes of its inertia"
    )


def test_a_point_mass_is_meant_to_be_one(tmp_path: Path) -> None:
    pendulum = visual('<sphere radius="0.05"/>', '<origin xyz="0 0 -1"/>')
    assert told(tmp_path, (0, 0, 0), pendulum, (0, 0, -1)) == []


@pytest.mark.parametrize(("z", "count"), [(0.5, 0), (0.55, 0), (0.65, 1), (-0.65, 1)])
def test_a_center_of_mass_outside(tmp_path: Path, z: float, count: int) -> None:
    said = told(tmp_path, solid(0.2, 0.4, 1.0), com=(0, 0, z))
    assert said == ["its centre of mass is 0.15 m outside of its shapes; check its origin"] * count


def test_all_shapes_of_a_body_count(tmp_path: Path) -> None:
    """Those of links that are merged into it, and those for collision; bodies without any are left out."""
    moments = solid(0.2, 0.4, 3.0)
    (line,) = told(tmp_path, moments)
    assert "too large" in line
    collision = BOX.replace("visual", "collision").replace("0.2 0.4 1", "0.2 0.4 3")
    assert told(tmp_path, moments, BOX + collision) == []
    tool = (
        '<link name="tool"><visual><geometry><sphere radius="1.5"/></geometry></visual></link>'
        '<joint name="t" type="fixed"><parent link="arm"/><child link="tool"/></joint>'
    )
    assert told(tmp_path, moments, BOX, more=tool) == []
    assert told(tmp_path, moments, "") == []


def test_turned_shapes_are_measured_along_the_principal_axes(tmp_path: Path) -> None:
    """A rod along a diagonal has the box of a cube, but is no cube."""
    rod = visual('<box size="0.01 0.01 1"/>', '<origin rpy="0 0.7853981633974483 0"/>')
    a, b, _ = solid(0.01, 0.01, 1.0)
    along = (a / 2, a, a / 2, 0, -a / 2, 0)
    across = (a / 2, a, a / 2, 0, a / 2, 0)
    assert b == a
    assert told(tmp_path, along, rod) == []
    assert "too large" in told(tmp_path, across, rod)[0]


@pytest.mark.parametrize(
    ("name", "bodies"),
    [
        ("panda", ["panda_link1", "panda_link2", "panda_link7"]),
        ("ur5", ["wrist_1_link", "wrist_2_link", "wrist_3_link"]),
        ("talos_reduced", ["leg_left_5_link", "leg_right_5_link"]),
        ("anymal", []),
        ("solo12", []),
        ("hyq", []),
    ],
)
def test_real_robots(name: str, bodies: list[str]) -> None:
    warnings, unread = implausible(load_robot(PUBLIC[name]))
    assert unread == []
    found = {text.partition("body '")[2].partition("'")[0] for text in warnings}
    assert {x for x in found if "gripper" not in x} == set(bodies)


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_bundled_robots(name: str, base: str) -> None:
    assert implausible(load_robot(name, base)) == ([], [])  # type: ignore[arg-type]


def test_the_ellipsoid_of_a_body() -> None:
    """The ellipsoid of a solid ellipsoid is itself: J_x = m (b^2 + c^2) / 5."""
    robot = load_robot("arm7")
    for body in robot.model.bodies:
        ellipsoid = ellipsoid_of(body.inertia)
        assert ellipsoid is not None
        a, b, c = ellipsoid.radii
        moments = body.inertia.mass * np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 5
        np.testing.assert_allclose(moments, ellipsoid.moments, rtol=1e-9)
        assert np.linalg.det(ellipsoid.R) == pytest.approx(1)
        com = ellipsoid.com
        about_com = ellipsoid.R @ np.diag(moments) @ ellipsoid.R.T
        about_origin = about_com + body.inertia.mass * (com @ com * np.eye(3) - np.outer(com, com))
        given_ = [[float(x) for x in row] for row in body.inertia.rotational]
        np.testing.assert_allclose(about_origin, given_, atol=1e-12)
