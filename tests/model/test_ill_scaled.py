"""Numbers near the ends of their range are used, or refused in one line that names the joint."""

from __future__ import annotations

import re

import pytest
from support.exact_oracle import largest_error
from support.few import few
from support.forms import relative_error
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.robots import BASES, ICUB
from support.states import random_inputs

from rbdgen.description.urdf import parse_urdf
from rbdgen.errors import ModelError
from rbdgen.functions.table import TABLE
from rbdgen.graph.programs.run import run
from rbdgen.model.build import Base, Robot, build_robot
from rbdgen.pipeline.robot import load_robot
from rbdgen.selection.axes import BodyAxes, search
from rbdgen.selection.choose import choose, subjects


def urdf(mass: float = 1.0, offset: float = 0.3, gyration: float = 0.1, axes: str = "xzx") -> str:
    """A chain of a root and three bodies with equal inertias, at distances of `offset` m along y."""
    moment = mass * gyration * gyration
    body = (
        f'<inertial><origin xyz="{gyration} 0 {gyration / 2}"/><mass value="{mass}"/>'
        f'<inertia ixx="{moment}" iyy="{1.2 * moment}" izz="{0.9 * moment}" ixy="0" ixz="0" iyz="0"/>'
        "</inertial>"
    )
    lines = [f'<robot name="chain"><link name="l0">{body}</link>']
    for k, axis in enumerate(axes):
        n = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}[axis]
        lines.append(
            f'<link name="l{k + 1}">{body}</link><joint name="j{k}" type="continuous"><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/><origin xyz="0 {offset} 0"/><axis xyz="{n}"/></joint>'
        )
    return "\n".join([*lines, "</robot>"])


def built(text: str, base: Base = "fixed") -> Robot:
    return build_robot(parse_urdf(text), base)


@pytest.mark.parametrize("axes", ["xzx", "xxx", "zzz"])
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("offset", [1e7, 1e8, 1e20, 1e154, 1e300])
def test_joints_too_far_apart(offset: float, base: Base, axes: str) -> None:
    with pytest.raises(ModelError, match=r"^<string>:\d+: joint 'j[01]' is \S+ m from its parent") as error:
        built(urdf(offset=offset, axes=axes), base)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("mass", [1e-300, 1e-200, 1e-40, 1e40, 1e300])
def test_masses_beyond_any_scale(mass: float, base: Base) -> None:
    joint = "j0" if base == "fixed" else "root_joint"
    with pytest.raises(ModelError, match=re.escape(f"joint '{joint}' moves ")):
        built(urdf(mass), base)


@pytest.mark.parametrize("size", [1e-300, 1e-155, 1e-100, 1e-40, 1e40, 1e150])
def test_robots_of_any_length(size: float) -> None:
    """Robots whose lengths are all extremely small or large are refused in a message that names a joint."""
    with pytest.raises(ModelError, match=r"joint 'j\d' (moves|is)|nothing resists joint 'j\d'"):
        built(urdf(offset=size, gyration=size))


NUMBERS = [
    (1e-29, 0.3, 0.1),
    (1e29, 0.3, 0.1),
    (1.0, 1e-13, 0.1),
    (1.0, 1e14, 1e14),
    (1.0, 1e-300, 0.1),
    (1.0, 1e-6, 1e-6),
    (1.0, 1e-13, 1e-13),
    (1.0, 1e-25, 1e-25),
]
"""Masses, offsets and radii of gyration; `make test` takes each on one of both bases."""

ON_BASES = [(*numbers, base) for numbers in NUMBERS for base in BASES]


@pytest.mark.parametrize(
    ("mass", "offset", "gyration", "base"), few([*ON_BASES[::4], *ON_BASES[3::4]], ON_BASES)
)
def test_those_not_refused_are_right(mass: float, offset: float, gyration: float, base: Base) -> None:
    """If the numbers are accepted, every form of every function is accurate."""
    assert largest_error(built(urdf(mass, offset, gyration), base).model) < (1e-9,)


@pytest.mark.parametrize("name", ["gravity", "aba"])
@pytest.mark.parametrize("offset", [1e-300, 1e-51, 4e-13, 1e-10, 1e4])
def test_offsets_of_any_size_among_others(offset: float, name: str) -> None:
    """One extreme offset does not spoil the search for body axes, which also tries units of length."""
    text = urdf().replace('xyz="0 0.3 0"', f'xyz="0 0.3 {offset}"')
    model, function = built(text).model, TABLE[name]
    inputs = random_inputs(model, function.signature, 3)
    (reference,) = PinocchioOracle(model_of_numbers(model), model)(name, inputs)
    choice = choose(function, model, search(model), engine="graph")
    (argument,) = function.signature.outputs
    assert relative_error(run(choice.program, inputs)[argument.name], reference) < 1e-9


def test_rounding_in_a_public_robot_is_no_unit_of_length() -> None:
    """iCub's file has offsets of 1e-23 m to 1e-51 m."""
    icub = load_robot(ICUB).model
    axes = BodyAxes((0.0,) * icub.nbodies, (0.0,) * icub.nbodies)
    units = [reduced.unit_length for _, reduced in subjects(icub, axes, sums=True)]
    assert len(units) > 2
    assert min(units) > 1e-3
