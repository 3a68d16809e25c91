"""Every function of the catalogue has a self-test that compares bits, and its C has those bits."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from support.few import few
from support.folders import selftest_sources, written

import rbdgen
from rbdgen import Frame, Point, RobotBuilder
from rbdgen.emit.package import FunctionSource, Sources
from rbdgen.emit.selftest.bits import FEWEST, STATES, hash_of_outputs, plain_inputs
from rbdgen.emit.selftest.golden import BUILTIN
from rbdgen.errors import OptionError
from rbdgen.functions.differentiated import MODES
from rbdgen.functions.table import ALL, lookup
from rbdgen.graph.programs.run import run
from rbdgen.machine import REALS, Real
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.page import emit
from rbdgen.pipeline.request import Request
from rbdgen.signature import UPDATE

SOLID: dict[str, Any] = {"mass": 1.3, "com": (0.1, 0.02, -0.03), "inertia": (0.05, 0.06, 0.07)}


def trunk(name: str) -> RobotBuilder:
    """A trunk with a thigh, to which other bodies are added."""
    built = RobotBuilder(name).add_body("trunk", mass=9, com=(0, 0, 0.1), inertia=(0.4, 0.3, 0.2))
    return built.add_body(
        "thigh", parent="trunk", type="revolute", axis=(0, 1, 0), xyz=(0, 0.1, -0.1), friction=0.1, **SOLID
    )


def fixed() -> Robot:
    """A fixed robot with exact friction."""
    built = trunk("fixed").add_body("shank", parent="thigh", type="prismatic", axis=(1, 0, 0), **SOLID)
    return rbdgen.load_robot(built, friction="exact", frames=["shank"])


def floating() -> Robot:
    return rbdgen.load_robot(trunk("floating"), base="floating", friction="exact", frames=["thigh"])


def kinds() -> Robot:
    """Joints of all other types, and one that follows another."""
    built = trunk("kinds").add_body("plate", parent="thigh", type="planar", **SOLID)
    built.add_body("ball", parent="trunk", type="spherical", xyz=(0.1, 0, 0.2), **SOLID)
    built.add_body("nut", parent="ball", type="helical", pitch=0.1, axis=(0, 1, 0), **SOLID)
    mimic = ("thigh_joint", 0.5, 0.2)
    built.add_body("finger", parent="plate", type="revolute", axis=(1, 0, 0), mimic=mimic, **SOLID)
    return rbdgen.load_robot(built)


HELD: Final = (Frame("sole", "thigh", (0, 0, -0.3)), Point("tail", "trunk", (0.1, 0, 0.2)))


def contacts() -> Robot:
    return rbdgen.load_robot(trunk("contacts"), base="floating", contacts=list(HELD))


def sets() -> Robot:
    """A robot of whose functions only those of a set of its contacts are tested."""
    stance = {"stance": ["sole"]}
    return rbdgen.load_robot(trunk("sets"), base="floating", contacts=list(HELD), contact_sets=stance)


def loops() -> Robot:
    """A planar four-bar linkage."""
    bar: dict[str, Any] = {"type": "revolute", "axis": (0, 1, 0), **SOLID}
    built = trunk("loops").add_body("coupler", parent="thigh", xyz=(0, 0, -0.3), **bar)
    built.add_body("rocker", parent="trunk", xyz=(0.4, 0.1, -0.1), **bar)
    built.add_body("one", parent="coupler", type="fixed", xyz=(0.4, 0, 0))
    built.add_body("other", parent="rocker", type="fixed", xyz=(0, 0, -0.3))
    return rbdgen.load_robot(built, loops=["one=other:point"], independent=["thigh_joint"])


MAKERS: Final[dict[str, Callable[[], Robot]]] = {
    make.__name__: make for make in (fixed, floating, kinds, contacts, sets, loops)
}

PARAMETERS: Final = ("mass:*", "com:*")


@cache
def robot_of(name: str) -> Robot:
    return MAKERS[name]()


def functions_of(robot: Robot, params: tuple[str, ...], directions: bool) -> tuple[str, ...]:
    """The names of the functions that this robot has. Robots with contacts or loops only have those that the
    floating robot lacks, and a robot with sets of contacts only those of its sets."""
    names = list(ALL)
    if robot.model.contacts or robot.model.loops:
        names = [name for name in names if not _has(robot_of("floating"), name, ())]
    for chosen in robot.model.contact_sets:
        names = [f"{name}_{chosen.name}" for name, row in ALL.items() if row.of_contacts]
    if directions:
        names = [f"{name}_{mode}" for name in names for mode in MODES]
    return tuple(name for name in names if _has(robot, name, params))


def _has(robot: Robot, name: str, params: tuple[str, ...]) -> bool:
    try:
        row = lookup(name, robot.model)
    except OptionError:
        return False
    return row.basis is None if params else not row.by_parameters


def designs_of(robot: Robot, options: Options) -> list[FunctionSource]:
    """Designs the functions, without derivatives that are refused because they are 0 at all states."""
    names = list(options.functions)
    while True:
        try:
            return design_functions(Request(robot, replace(options, functions=tuple(names))))
        except OptionError as error:
            said = re.match(r"function '(\w+)': its results are 0 at all states", str(error))
            if said is None:
                raise
            names.remove(said[1])


CASES = [
    (name, params, directions, real)
    for name in MAKERS
    for params in ((), PARAMETERS)
    for directions in (False, True)
    for real in REALS
]


@pytest.mark.parametrize(
    ("name", "params", "directions", "real"),
    few(
        [
            ("fixed", (), False, "double"),
            ("floating", PARAMETERS, False, "float"),
            ("contacts", (), False, "double"),
            ("loops", (), False, "double"),
            ("loops", (), False, "float"),
        ],
        CASES,
    ),
)
def test_every_function_compares_bits(
    name: str, params: tuple[str, ...], directions: bool, real: Real, tmp_path: Path
) -> None:
    robot = robot_of(name)
    functions = functions_of(robot, params, directions)
    options = Options(functions=functions, params=params, savings=False, engine="graph", target="portable")
    designs = designs_of(robot, options)
    assert len(designs) > 5
    for design in designs:
        inputs = plain_inputs(design.signature.inputs, robot.model.manifold, real)
        outputs = run(design.program, inputs, BUILTIN)
        _, compared = hash_of_outputs([outputs[x.name] for x in design.signature.outputs])
        assert compared > max(FEWEST, STATES / 2), design.name
    names = tuple(x.name for x in designs if x.name != UPDATE)
    emitted = emit(Request(robot, replace(options, functions=names, real=real)), designs)
    said = selftest(emitted, tmp_path / "folder")
    wanted = r"\w+: ok, 0 wrong elements in 2 states, bits [0-9a-f]{8} as expected"
    assert [line for line in said if not re.fullmatch(wanted, line)] == []
    assert [line.split(":")[0] for line in said] == [design.name for design in designs]


def selftest(sources: Sources, folder: Path) -> list[str]:
    """The output of the self-test, one line per function."""
    flags = ("-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off")
    texts = selftest_sources(written(sources.files, folder))
    subprocess.run(["gcc", *flags, *texts, "-o", "program", "-lm"], cwd=folder, check=True)
    done = subprocess.run([folder / "program"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()
