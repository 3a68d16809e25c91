"""Parameters as inputs: results agree with Pinocchio's for a changed URDF; operations are pinned."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from support.few import few
from support.forms import relative_error
from support.linkages import SOLID, four_bar
from support.pinocchio_oracle import PinocchioOracle, model_of_urdf
from support.robots import PATHS, robot
from support.states import random_inputs

import rbdgen
from rbdgen.emit.package import FunctionSource
from rbdgen.errors import OptionError
from rbdgen.functions.table import TABLE, lookup
from rbdgen.graph.programs.run import run
from rbdgen.model.build import Base, Robot
from rbdgen.model.inertial_parameters import NAMES
from rbdgen.model.parameters import OF_INERTIA, asked_parameters
from rbdgen.options import Options
from rbdgen.pipeline.design import count, design_functions
from rbdgen.pipeline.request import Request
from rbdgen.runtime import Library

ROOT = Path(__file__).resolve().parents[2]

Array = NDArray[np.float64]

FUNCTIONS = ("rnea", "aba", "crba", "gravity", "kinetic_energy", "potential_energy", "regressor")

ROBOTS: dict[str, tuple[str, Base]] = {
    "arm7": ("arm7", "fixed"),
    "puma560": ("puma560", "fixed"),
    "panda": ("panda", "fixed"),
    "quadruped12": ("quadruped12", "floating"),
    "ur5": ("ur5", "floating"),
    "double_pendulum": ("double_pendulum", "floating"),
}

ASKED = {
    "inertia": ("mass:*", "com:*", "inertia:*"),
    "ten": ("ten:*",),
    "lengths": ("xyz:*",),
    "all": ("gravity", "ten:*", "xyz:*"),
}


@cache
def designed(
    name: str, asked: tuple[str, ...], functions: tuple[str, ...] = FUNCTIONS
) -> list[FunctionSource]:
    options = Options(functions=functions, params=asked, engine="graph")
    return design_functions(Request(robot(*ROBOTS[name], 0.0), options))


def changed_urdf(text: str, values: dict[str, float]) -> str:
    """The URDF with these values of parameters."""
    tree = ElementTree.fromstring(text)
    links = {link.get("name"): link for link in tree.findall("link")}
    joints = {joint.get("name"): joint for joint in tree.findall("joint")}
    inertial: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        kind, _, rest = name.partition(":")
        owner, _, part = rest.rpartition(".") if kind != "mass" else (rest, "", "")
        if kind == "xyz":
            origin = joints[owner].find("origin")
            if origin is None:
                origin = ElementTree.SubElement(joints[owner], "origin")
            xyz = [float(x) for x in origin.get("xyz", "0 0 0").split()]
            xyz["xyz".index(part)] = value
            origin.set("xyz", " ".join(map(repr, xyz)))
        elif kind in ("mass", "com", "inertia", "ten"):
            inertial.setdefault(owner, {})[f"{kind}.{part}" if part else kind] = value
    for owner, given in inertial.items():
        rewrite(links[owner], given)
    return ElementTree.tostring(tree, encoding="unicode")


def rewrite(link: Any, given: dict[str, float]) -> None:
    """Rewrites the inertial of a link, which is first rotated to the link's axes."""
    import pinocchio as pin  # noqa: PLC0415

    old = link.find("inertial")
    if old is None:
        old = ElementTree.SubElement(link, "inertial")
        for tag in ("origin", "mass", "inertia"):
            ElementTree.SubElement(old, tag)
    for tag in ("origin", "mass", "inertia"):
        if old.find(tag) is None:
            ElementTree.SubElement(old, tag)
    origin, mass, inertia = (old.find(tag) for tag in ("origin", "mass", "inertia"))
    c = np.array([float(x) for x in origin.get("xyz", "0 0 0").split()])
    R = pin.rpy.rpyToMatrix(np.array([float(x) for x in origin.get("rpy", "0 0 0").split()]))
    xx, xy, yy, xz, yz, zz = (float(inertia.get(f"i{e}", 0)) for e in OF_INERTIA)
    J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    m = given.get("mass", float(mass.get("value", 0)))
    if "ten.m" in given:
        m, *rest = (given[f"ten.{name}"] for name in NAMES)
        c = np.array(rest[:3]) / m
        J = full(rest[3:]) + m * pin.skew(c) @ pin.skew(c)
    c = np.array([given.get(f"com.{axis}", old) for axis, old in zip("xyz", c, strict=True)])
    entries = [J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]]
    for e, value in zip(OF_INERTIA, entries, strict=True):
        inertia.set(f"i{e}", repr(float(given.get(f"inertia.{e}", value))))
    mass.set("value", repr(float(m)))
    origin.set("xyz", " ".join(repr(float(x)) for x in c))
    origin.set("rpy", "0 0 0")


def full(entries: list[float]) -> Array:
    xx, xy, yy, xz, yz, zz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@pytest.mark.parametrize(
    ("name", "asked"),
    few(
        [("arm7", "lengths"), ("panda", "inertia"), ("quadruped12", "ten"), ("puma560", "all")],
        product(ROBOTS, ASKED),
    ),
)
def test_changed_parameters_against_pinocchio(name: str, asked: str) -> None:
    described: Robot = robot(*ROBOTS[name], 0.0)
    *functions, update = designed(name, ASKED[asked])
    chosen = asked_parameters(described, ASKED[asked])
    generator = np.random.default_rng(4)
    defaults = np.array([parameter.default for parameter in chosen])
    p = defaults * (1 + 0.05 * generator.uniform(-1, 1, len(chosen)))
    p += np.where((defaults == 0) & np.array([".I" in x.name for x in chosen]), 1e-5, 0)
    table = run(update.program, {"p": p[None]})["table"]
    values = dict(zip((parameter.name for parameter in chosen), p.tolist(), strict=True))
    reference = model_of_urdf(changed_urdf(PATHS[name].read_text(), values), described.base)
    reference.gravity.linear = np.array([0, 0, values.get("gravity.z", -9.81)])
    oracle = PinocchioOracle(reference, described.model)
    for function in functions:
        inputs = random_inputs(described.model, lookup(function.name).signature, 3)
        outputs = run(function.program, {**inputs, "table": np.repeat(table, 3, 0)})
        for result, expected in zip(outputs.values(), oracle(function.name, inputs), strict=True):
            tolerance = 1e-9 if function.name == "aba" else 1e-11
            assert relative_error(result, expected, floor=1e-3) < tolerance, function.name


DEFAULTS = [("double_pendulum", tuple(TABLE)), ("puma560", tuple(TABLE)), ("quadruped12", FUNCTIONS)]


@pytest.mark.parametrize(("name", "functions"), few(DEFAULTS[:1], DEFAULTS))
def test_defaults_are_the_plain_robot(name: str, functions: tuple[str, ...]) -> None:
    """The update of the default parameters gives the bits of the default table."""
    described = robot(*ROBOTS[name], 0.0)
    *tabled, update = designed(name, ("ten:*", "xyz:*", "gravity.*"), functions)
    plain = design_functions(Request(described, Options(functions=functions, engine="graph", savings=False)))
    (p,), table = update.signature.inputs, update.signature.outputs[0]
    assert run(update.program, {"p": np.array(p.default)})["table"].tolist() == list(table.default or ())
    for ours, theirs in zip(tabled, plain, strict=True):
        inputs = random_inputs(described.model, lookup(ours.name).signature, 2)
        expected = run(theirs.program, inputs)
        found = run(ours.program, {**inputs, "table": np.tile(table.default or (), (2, 1))})
        for key, reference in expected.items():
            assert relative_error(found[key], reference, floor=1e-3) < 1e-8, (ours.name, key)


def test_pinned_operations() -> None:
    """Pins the counts of the arm with all inertias as inputs, and with all nonzero lengths as inputs."""
    counts = {
        asked: {f.name: f.cost.total for f in design_functions(Request(robot("arm7"), options(asked)))}
        for asked in ("ten:*", "xyz:*", "ten:link7")
    }
    assert counts == {
        "ten:*": {"rnea": 561, "crba": 291, "aba": 1090, "update": 133},
        "xyz:*": {"rnea": 466, "crba": 327, "aba": 1085, "update": 100},
        "ten:link7": {"rnea": 442, "crba": 274, "aba": 952, "update": 35},
    }
    page = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8").replace("\n", " ")
    last, every = (counts[asked]["rnea"] for asked in ("ten:link7", "ten:*"))
    assert f"takes {last} operations with the ten parameters of its last link as inputs, {every} with" in page


def options(asked: str) -> Options:
    return Options(functions=("rnea", "crba", "aba"), params=(asked,))


def test_what_no_parameter_reaches_stays_folded() -> None:
    """With gravity as the only parameter, the table has one entry, and functions hardly grow."""
    plain = {name: cost.total for name, (_, cost) in count(robot("arm7"), ("rnea", "crba")).items()}
    tabled = {f.name: f for f in design_functions(Request(robot("arm7"), options("gravity")))}
    assert tabled["update"].signature.outputs[0].size == 1
    assert tabled["update"].cost.total == 0
    assert tabled["rnea"].cost.total <= 1.05 * plain["rnea"]
    assert tabled["crba"].cost.total <= 1.05 * plain["crba"]


def test_resistance_and_mimic() -> None:
    """Damping and rotors may be inputs for a robot with joints that follow others."""
    path = PATHS["panda"]
    given: dict[str, Any] = {"damping": True, "armature": {"panda_joint3": 0.2}}
    names = ["damping:*", "armature:panda_joint3", "mass:panda_leftfinger", "xyz:panda_finger_joint1"]
    library = rbdgen.build(rbdgen.load_robot(path, **given), ["rnea"], params=names, engine="graph")
    other = rbdgen.load_robot(path, damping=True, armature={"panda_joint3": 0.7})
    plain = rbdgen.build(other, ["rnea"], engine="graph")
    q, v, a = np.random.default_rng(2).normal(size=(3, 4, 8))
    table = library.update({"armature:panda_joint3": 0.7})
    np.testing.assert_allclose(library.rnea(q, v, a, table), plain.rnea(q, v, a), rtol=1e-9, atol=1e-10)
    none = library.update(dict.fromkeys((x for x in library.parameters.names if x[:7] == "damping"), 0.0))
    undamped = rbdgen.load_robot(path, armature=given["armature"])
    expected = rbdgen.build(undamped, ["rnea"], engine="graph").rnea(q, v, a)
    np.testing.assert_allclose(library.rnea(q, v, a, none), expected, rtol=1e-9, atol=1e-10)


def test_lengths_of_closed_loops() -> None:
    """A longer crank by a parameter gives the results of another robot with this crank."""
    functions = ["loop_position", "loop_jacobian", "loop_drift", "rnea"]

    def built(crank: float, **options: Any) -> Library:
        loaded = rbdgen.load_robot(four_bar(crank).add_loop("tip", "end", "point"))
        return rbdgen.build(loaded, functions, engine="graph", **options)

    library, other = built(0.3, params=["xyz:coupler_joint"]), built(0.45)
    table = library.update({"xyz:coupler_joint.x": 0.45})
    q, v, a = np.random.default_rng(0).normal(size=(3, other.manifest["nv"]))
    for name, inputs in (
        ("loop_position", (q,)),
        ("loop_jacobian", (q,)),
        ("loop_drift", (q, v)),
        ("rnea", (q, v, a)),
    ):
        found, expected = getattr(library, name)(*inputs, table), getattr(other, name)(*inputs)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13, err_msg=name)
        assert np.abs(getattr(library, name)(*inputs) - expected).max() > 1e-3


def test_springs_that_the_file_does_not_have() -> None:
    """The rest position of a follower's spring is the follower's own; a ball joint can have no spring."""

    def finger(stiffness: float) -> Robot:
        built = rbdgen.RobotBuilder("finger").add_body("palm")
        built.add_body("ball", parent="palm", type="spherical", **SOLID)
        built.add_body("near", parent="ball", type="revolute", axis=(0, 1, 0), **SOLID)
        spring = {"mimic": ("near_joint", -0.5, 0.3), "stiffness": stiffness, "spring_reference": 0.1}
        built.add_body("far", parent="near", type="revolute", axis=(0, 1, 0), **SOLID, **spring)
        return rbdgen.load_robot(built)

    without, sprung = finger(0.0), finger(2.0)
    options = Options(functions=("gravity",), params=("stiffness:far_joint",), engine="graph")
    gravity, update = design_functions(Request(without, options))
    inputs = random_inputs(sprung.model, lookup("gravity").signature, 3)
    for stiffness, expected in ((2.0, sprung), (0.0, without)):
        table = run(update.program, {"p": np.full((3, 1), stiffness)})["table"]
        found = run(gravity.program, {**inputs, "table": table})["tau"]
        (plain,) = design_functions(Request(expected, Options(functions=("gravity",), engine="graph")))
        assert relative_error(found, run(plain.program, inputs)["tau"]) < 1e-12
    with pytest.raises(OptionError, match="stiffness:ball_joint'\\]: no such parameter"):
        asked_parameters(without, ["stiffness:ball_joint"])
