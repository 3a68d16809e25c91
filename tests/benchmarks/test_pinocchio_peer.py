"""The inputs of the C++ drivers, which take minutes to compile; `make bench` checks their results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.few import few

import rbdgen
from benchmarks.contestants import MORE
from benchmarks.peers import pinocchio_cpp
from benchmarks.states import random_states
from benchmarks.toolchain import ToolError
from rbdgen.functions.table import ALL
from rbdgen.model.build import Base

pinocchio = pytest.importorskip("pinocchio")

LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/><mass value="2"/>'
    '<inertia ixx="1" iyy="1.2" izz="0.9" ixy="0.1" ixz="0.05" iyz="0.02"/></inertial></link>'
)
JOINT = (
    '<joint name="j{1}" type="{2}"><parent link="l{0}"/><child link="l{1}"/><origin xyz="0.1 0.3 0.2"'
    ' rpy="0.3 0.1 0.7"/><axis xyz="{3}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
)
JOINTS = [
    ("revolute", "1 0 0"),
    ("continuous", "0.6 0 0.8"),
    ("prismatic", "0 0.6 0.8"),
    ("revolute", "0 0 -1"),
    ("continuous", "0 1 0"),
]
FIXED = (
    '<link name="tip"/><joint name="end" type="fixed"><parent link="l2"/><child link="tip"/>'
    '<origin xyz="0.4 0.5 0.6" rpy="0.2 0.3 0.4"/></joint>'
)


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    links = "".join(LINK.format(f"l{k}") for k in range(len(JOINTS) + 1))
    joints = "".join(JOINT.format(k, k + 1, kind, axis) for k, (kind, axis) in enumerate(JOINTS))
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="mixed">{links}{joints}{FIXED}</robot>')
    return path


@pytest.mark.parametrize("floating", [False, True])
def test_angles_become_pinocchio_coordinates(urdf: Path, floating: bool) -> None:
    model = pinocchio_cpp.load_model(urdf, floating=floating)
    states = random_states(model.nv, floating=floating, count=3)
    base = 7 if floating else 0
    for angles, q in zip(states.q, pinocchio_cpp.pinocchio_q(model, states.q), strict=True):
        step = np.concatenate([np.zeros(6 if floating else 0), angles[base:]])
        expected = pinocchio.integrate(model, pinocchio.neutral(model), step)
        np.testing.assert_allclose(q[base:], expected[base:], atol=1e-15)
        np.testing.assert_array_equal(q[:base], angles[:base])


def test_model_file_holds_the_whole_model(urdf: Path, tmp_path: Path) -> None:
    model = pinocchio_cpp.load_model(urdf, floating=False)
    pinocchio_cpp.write_model(model, tmp_path / "model")
    gravity, count, *joints = (tmp_path / "model").read_text().splitlines()
    assert gravity == "0.0 0.0 -9.81"
    assert joints.pop() == "0"  # frames
    assert int(count) == len(joints) == len(JOINTS)
    rebuilt = pinocchio.Model()
    for number, (line, (_, axis)) in enumerate(zip(joints, JOINTS, strict=True)):
        parent, kind, *words = line.split()
        numbers = np.array(words, dtype=float)
        np.testing.assert_allclose(numbers[:3], np.array(axis.split(), dtype=float))
        assert kind == model.joints[number + 1].shortname()
        placement = pinocchio.SE3(numbers[3:12].reshape(3, 3), numbers[12:15])
        inertia = np.zeros((3, 3))
        inertia[np.tril_indices(3)] = numbers[19:25]
        inertia = inertia + np.tril(inertia, -1).T
        joint = rebuilt.addJoint(int(parent), model.joints[number + 1], placement, str(number))
        body = pinocchio.Inertia(numbers[15], numbers[16:19], inertia)
        rebuilt.appendBodyToJoint(joint, body, pinocchio.SE3.Identity())
    q = pinocchio.neutral(model)
    np.testing.assert_allclose(
        pinocchio.crba(rebuilt, rebuilt.createData(), q),
        pinocchio.crba(model, model.createData(), q),
        atol=1e-14,
    )


def test_model_file_holds_the_chosen_frames(urdf: Path, tmp_path: Path) -> None:
    model = pinocchio_cpp.load_model(urdf, floating=True, frames=["tip", "l5"])
    pinocchio_cpp.write_model(model, tmp_path / "model")
    lines = (tmp_path / "model").read_text().splitlines()
    count, *frames = lines[2 + model.njoints - 1 :]
    assert int(count) == len(frames) == 2
    (carrier, *numbers), (last, *own) = (np.array(line.split(), dtype=float) for line in frames)
    assert model.names[int(carrier)] == "j2"
    assert model.names[int(last)] == "j5"
    tip = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.2, 0.3, 0.4), np.array([0.4, 0.5, 0.6]))
    np.testing.assert_allclose(numbers, [*tip.rotation.ravel(), *tip.translation, 6], atol=1e-14)
    np.testing.assert_array_equal(own, [*np.eye(3).ravel(), 0, 0, 0, 6])


def test_model_file_holds_the_contacts(urdf: Path, tmp_path: Path) -> None:
    """In the model file, a point has 3 rows and a frame has 6."""
    contacts = (rbdgen.Point("a", "l2", (0.1, 0.2, 0.3)), rbdgen.Frame("b", "l5"))
    robot = rbdgen.load_robot(urdf, base="floating", contacts=contacts)
    model = pinocchio_cpp.load_model(urdf, floating=True)
    pinocchio_cpp.add_contacts(model, robot.model.contacts)
    pinocchio_cpp.write_model(model, tmp_path / "model")
    point, frame = (line.split() for line in (tmp_path / "model").read_text().splitlines()[-2:])
    assert [model.names[int(row[0])] for row in (point, frame)] == ["j2", "j5"]
    assert [*map(float, point[10:])] == [0.1, 0.2, 0.3, 3]
    assert float(frame[-1]) == 6


def test_a_frame_that_is_no_link(urdf: Path) -> None:
    with pytest.raises(ToolError, match="there is no link 'hand'; name one for its frame"):
        pinocchio_cpp.load_model(urdf, floating=False, frames=["hand"])


@pytest.mark.parametrize("base", few(["floating"], ["fixed", "floating"]))
def test_both_sides_compute_the_same(urdf: Path, base: Base) -> None:
    robot = rbdgen.load_robot(urdf, base, frames=["tip", "l5"])
    names = [name for name in MORE.functions if pinocchio_cpp.has_reference(name)]
    lib = rbdgen.build(robot, functions=names)
    model = pinocchio_cpp.load_model(urdf, floating=base == "floating", frames=lib.frames)
    states = random_states(model.nv, floating=base == "floating", count=3)
    for name in names:
        inputs = [getattr(states, x.name) for x in ALL[name].signature.inputs]
        found = lib.functions[name](*inputs)
        outputs = [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
        assert pinocchio_cpp.worst_error({name: outputs}, model, states) < 1e-12
        flat = [x.reshape(3, -1) for x in outputs]  # as the C++ drivers print them
        assert pinocchio_cpp.worst_error({f"{name}:a variant": flat}, model, states) < 1e-12
        flat[0] = flat[0] * (1 + 1e-6)
        assert pinocchio_cpp.worst_error({name: flat}, model, states) > 1e-7


def test_an_unknown_function_is_not_taken_for_right(urdf: Path) -> None:
    model = pinocchio_cpp.load_model(urdf, floating=False)
    states = random_states(model.nv, floating=False, count=1)
    assert not pinocchio_cpp.has_reference("no_such_function")
    with pytest.raises(KeyError):
        pinocchio_cpp.worst_error({"no_such_function": [np.ones((1, 3))]}, model, states)


def test_random_states_repeat() -> None:
    states = random_states(18, floating=True, count=5, seed=4)
    assert [part.shape for part in (states.q, states.v, states.a, states.tau)] == [(5, 19)] + 3 * [(5, 18)]
    np.testing.assert_allclose(np.linalg.norm(states.q[:, 3:7], axis=1), 1.0)
    np.testing.assert_array_equal(states.q, random_states(18, floating=True, count=5, seed=4).q)
    assert len(states.head(2)) == 2
