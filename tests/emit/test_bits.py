"""The hash in the emitted self-test equals that of the interpreter, and shows a changed last bit."""

from __future__ import annotations

import math
import re
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.few import few
from support.folders import written
from support.limbs import loops_in_limbs, with_limbs
from support.toys import facts, toys

from rbdgen.description.contacts import Point
from rbdgen.emit.package import EmitOptions, FunctionSource, Sources
from rbdgen.emit.render import render
from rbdgen.emit.selftest.bits import FEWEST, SHORT, STATES, hash_of_outputs, plain_inputs
from rbdgen.errors import EmitError
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.builder import Builder
from rbdgen.graph.programs.passes import FOR_BATCHES, apply
from rbdgen.graph.programs.program import straight_line
from rbdgen.graph.programs.run import run
from rbdgen.machine import Real
from rbdgen.model.build import Base, build_robot
from rbdgen.model.joints import Floating, Revolute, Spherical
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.options import Options, Trig
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.page import emit
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import JointCoordinates
from rbdgen.selection.limbs import InLimbs, cheapest_in_limbs
from rbdgen.signature import SizedArgument, SizedSignature

FUNCTIONS = ("rnea", "aba", "crba", "minv")


@cache
def folder_of(robot: str, base: Base, real: Real, trig: Trig, target: str = "portable") -> Sources:
    model = load_robot(robot_root() / f"{robot}.urdf", base)
    options = Options(functions=FUNCTIONS, real=real, trig=trig, target=target)
    return emit(Request(model, options), design_functions(Request(model, options)))


@pytest.mark.parametrize("real", few(["float"], ["float", "double"]))
def test_the_bits_of_looped_forms(real: Real, tmp_path: Path) -> None:
    model = load_robot(robot_root() / "quadruped12.urdf", "floating")
    variants = dict.fromkeys(FUNCTIONS, "looped")
    options = Options(functions=FUNCTIONS, real=real, target="portable", variants=variants)
    done = selftest(emit(Request(model, options), design_functions(Request(model, options))), tmp_path)
    assert done.stdout.count(" as expected\n") == len(FUNCTIONS), done.stdout


@pytest.mark.parametrize("real", ["float", "double"])
def test_the_bits_of_limbs_as_lanes(real: Real, tmp_path: Path) -> None:
    """The bits are equal, whether a register holds all lanes or a part of them. One limb has a 0 where others
    have a number, which changes signs of zeros in `nle`; batches are told to ignore these signs. Three limbs
    have a contact."""
    held = [Point(f"tip{k}", f"limb{k}_1", (0.1, 0, 0.1 * k)) for k in (2, 0, 3)]
    robot = with_limbs([("revolute", "prismatic")] * 4, contacts=held)
    joints = [
        replace(x, origin=replace(x.origin, xyz=(0.0, 0.0, 0.0))) if x.name == "limb0_1_joint" else x
        for x in robot.description.joints
    ]
    limbed = build_robot(replace(robot.description, joints=tuple(joints)), "floating")
    names = ("rnea", "nle", "minv", "contact_forces")
    sources = render(
        facts_of(Request(limbed, Options(functions=names))),
        [as_source(lookup(name), limbed.model, in_limbs(lookup(name), limbed.model)) for name in names],
        EmitOptions(real=real, trig="builtin"),
    )
    assert "+= unequal(many_tau, " in sources.files["selftest/limbed_batch_selftest.c"]
    assert "+= differ(" not in sources.files["selftest/limbed_batch_selftest.c"]
    for flags in (("-O1",), ("-O2", "-mavx2", "-ffp-contract=off")):
        done = selftest(sources, tmp_path, *flags)
        assert done.stdout.count(" as expected\n") == len(names), done.stdout


def test_the_bits_of_loops_one_of_which_has_limbs_as_lanes(tmp_path: Path) -> None:
    """One file has vectors of neighbours and of limbs, and mirrors squares of a symmetric matrix."""
    robot = with_limbs([("revolute", "prismatic")] * 6)
    source = as_source(lookup("minv"), robot.model, loops_in_limbs("minv", robot.model))
    options = EmitOptions(trig="builtin")
    sources = render(facts_of(Request(robot, Options(functions=("minv",)))), [source], options)
    code = sources.files["limbed_minv.c"]
    assert '#include "limbed_lanes.h"' in code
    assert '#include "limbed_limbs.h"' in code
    assert "limbed_lanes_transpose(square, " in code
    done = selftest(sources, tmp_path, "-O2", "-mavx2", "-ffp-contract=off")
    assert done.stdout.count(" as expected\n") == 1, done.stdout


def in_limbs(function: Function, model: Model) -> InLimbs:
    found = cheapest_in_limbs(function, model, [("as given", reduce(model))], 0.25, sums=True)
    assert found is not None
    return found


def as_source(function: Function, model: Model, found: InLimbs) -> FunctionSource:
    program = found.by_limb
    return FunctionSource(
        function.sized(model),
        program,
        "limbs",
        found.axes,
        program.cost,
        function.summary,
        batch=apply(program, FOR_BATCHES),
        lanes=found.lanes,
    )


def selftest(sources: Sources, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    written(sources.files, folder)
    names = [f"selftest/{sources.name}_selftest.c", *(source for _, source in sources.c_sources())]
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", *flags, *names, "-o", "program", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=False)


CASES: list[tuple[str, Base, Real, Trig]] = [
    ("planar3r", "fixed", "float", "builtin"),
    ("planar3r", "fixed", "float", "input"),
    ("planar3r", "fixed", "double", "builtin"),
    ("planar3r", "fixed", "double", "input"),
    ("quadruped12", "floating", "float", "builtin"),
    ("quadruped12", "floating", "double", "input"),
]


@pytest.mark.parametrize(("robot", "base", "real", "trig"), few(CASES[:4], CASES))
def test_the_bits_of_c(robot: str, base: Base, real: Real, trig: Trig, tmp_path: Path) -> None:
    sources = folder_of(robot, base, real, trig)
    for flags in (("-O0",), ("-O2", "-ffp-contract=off")):
        done = selftest(sources, tmp_path, *flags)
        said = re.findall(
            r"^(\w+): ok, 0 wrong elements in 2 states, bits \w+ as expected$", done.stdout, re.M
        )
        assert tuple(said) == FUNCTIONS, done.stdout
        assert done.returncode == 0


def one_bit_off(sources: Sources, function: str, real: Real) -> tuple[Sources, str, str]:
    """Replaces the constant with most digits in the function's source by the next larger number."""
    name = dict(sources.c_sources())[function]
    suffix = "f" if real == "float" else ""
    body = sources.files[name].partition("\n{\n")[2]
    found = re.findall(rf"(?<![\w.])\d+\.\d+(?:e-?\d+)?{suffix}(?!\w)", body)
    old = max(found, key=len)
    dtype = np.float32 if real == "float" else np.float64
    new = f"{np.nextafter(dtype(old.rstrip('f')), dtype(math.inf))!s}{suffix}"
    changed = sources.files[name].replace(old, new)
    return replace(sources, files={**sources.files, name: changed}), old, new


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("real", ["float", "double"])
def test_a_changed_last_bit_of_a_constant_is_found(function: str, real: Real, tmp_path: Path) -> None:
    sources, old, new = one_bit_off(folder_of("planar3r", "fixed", real, "builtin"), function, real)
    assert old != new
    done = selftest(sources, tmp_path, "-O2", "-ffp-contract=off")
    assert done.returncode == 1
    assert re.search(
        rf"^{function}: FAILED, 0 wrong elements in 2 states, bits \w+, not \w+: ", done.stdout, re.M
    )
    accepted = selftest(sources, tmp_path, "-O2", "-ffp-contract=off", "-DPLANAR3R_ANY_BITS=1")
    assert accepted.returncode == 0


@pytest.mark.parametrize(
    ("robot", "base", "function"),
    [("double_pendulum", "fixed", "aba"), ("quadruped12", "floating", "integrate_derivatives")],
)
def test_the_bits_of_signs_in_float(robot: str, base: Base, function: str, tmp_path: Path) -> None:
    """Signs occur in Coulomb friction, and in the choice between a quaternion and its negative."""
    urdf = tmp_path / f"{robot}.urdf"
    text = (robot_root() / urdf.name).read_text()
    urdf.write_text(text.replace("</joint>", '<dynamics friction="0.1"/></joint>'))
    model = load_robot(urdf, base, friction="exact")
    options = Options(functions=(function,), real="float", target="portable")
    (design,) = designs = design_functions(Request(model, options))
    assert design.program.cost.sign > 0
    done = selftest(emit(Request(model, options), designs), tmp_path, "-O1", "-ffp-contract=off")
    assert done.stdout.count(" as expected\n") == 1, done.stdout


def test_nothing_is_expected_of_the_c_library(tmp_path: Path) -> None:
    done = selftest(folder_of("planar3r", "fixed", "float", "libm"), tmp_path)
    assert done.returncode == 0
    assert done.stdout.count(", which rest with the C library\n") == len(FUNCTIONS)


def test_the_states() -> None:
    arguments = [
        SizedArgument("v", (7,), "", ""),
        SizedArgument("sin_q", (3,), "1", "", "sines"),
        SizedArgument("cos_q", (3,), "1", "", "cosines"),
    ]
    for real in ("float", "double"):
        values = plain_inputs(arguments, Manifold(()), real)  # type: ignore[arg-type]
        assert {name: array.shape for name, array in values.items()} == {
            "v": (STATES, 7),
            "sin_q": (STATES, 3),
            "cos_q": (STATES, 3),
        }
        assert 3 < np.abs(values["v"]).max() <= 4
        assert 0.4 < (values["v"] == 0).mean() < 0.6
        np.testing.assert_allclose(values["sin_q"] ** 2 + values["cos_q"] ** 2, 1, rtol=1e-6)
    single, double = (
        plain_inputs(arguments, Manifold(()), real)["v"]  # type: ignore[arg-type]
        for real in ("float", "double")
    )
    np.testing.assert_array_equal(single, double)


@pytest.mark.parametrize("real", ["float", "double"])
def test_the_states_are_such_as_functions_are_called_with(real: Real) -> None:
    joints = [
        JointCoordinates("base", Floating().space, 0, 0),
        JointCoordinates("elbow", Revolute().space, 7, 6),
        JointCoordinates("wrist", Spherical().space, 8, 7),
    ]
    arguments = [
        SizedArgument("q", (12,), "", "", "configuration"),
        SizedArgument("dt", (1,), "s", "", "time_step"),
        SizedArgument("mu", (2,), "", "", "nonnegative"),
        SizedArgument("phi", (10,), "", "", "inertia"),
        SizedArgument("p", (3,), "", "", "parameters", default=(2.0, 0.0, -0.1)),
    ]
    values = plain_inputs(arguments, Manifold(tuple(joints)), real)
    for end in (7, 12):
        squares = np.sum(values["q"][:, end - 4 : end].astype(float) ** 2, axis=1)
        np.testing.assert_allclose(squares, 1, rtol=1e-6)
        assert len(np.unique(values["q"][:, end - 4 : end], axis=0)) > 200
    assert np.abs(values["q"][:, 7]).max() > 3
    assert (values["dt"].min(), values["dt"].max()) == (0, SHORT)
    assert (values["mu"].min(), values["mu"].max()) == (0, 1)
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = values["phi"].astype(float).T
    sigma = (xx + yy + zz) / 2
    rows = [
        [sigma - xx, -xy, -xz, hx],
        [-xy, sigma - yy, -yz, hy],
        [-xz, -yz, sigma - zz, hz],
        [hx, hy, hz, m],
    ]
    assert np.linalg.eigvalsh(np.moveaxis(np.array(rows), -1, 0)).min() > 0
    p = values["p"]
    assert (p[:, 1] == 0).all()
    assert 1.75 <= p[:, 0].min() < 1.8
    assert 2.2 < p[:, 0].max() <= 2.25
    assert (p[:, 2] == np.array(-0.1, p.dtype)).mean() > 0.3


def test_the_hash() -> None:
    """The hash is FNV-1a with 32-bit words, by its definition."""
    values = np.array([[1.5, -2.0]], np.float32)
    expected = 2166136261
    for word in (0x3FC00000, 0xC0000000):
        expected = (expected ^ word) * 16777619 % 2**32
    assert hash_of_outputs([values[:, :1], values[:, 1:]]) == (expected, 1)
    assert hash_of_outputs([values.astype(np.float64)])[0] != expected
    more = np.array([[math.inf, 1], values[0], [1, math.nan]], np.float32)
    assert hash_of_outputs([more]) == (expected, 1), "states are left out one by one"


def quotients(name: str, size: int) -> FunctionSource:
    """Returns the reciprocals of all numbers but the last one, which may be infinite, and the last number."""
    builder = Builder()
    *x, last = builder.input("v", size)
    graph = builder.graph([("y", (size - 1,), [1 / element for element in x]), ("copy", (1,), [last])])
    signature = SizedSignature(
        name,
        (SizedArgument("v", (size,), "1", "numbers", "velocity"),),
        (
            SizedArgument("y", (size - 1,), "1", "reciprocals"),
            SizedArgument("copy", (1,), "1", "the last one"),
        ),
    )
    program = straight_line(graph)
    return FunctionSource(signature, program, "form", "as given", program.cost, "reciprocals")


@pytest.mark.parametrize("real", ["float", "double"])
def test_single_states_without_finite_results_are_left_out(real: Real, tmp_path: Path) -> None:
    options = EmitOptions(real=real, trig="builtin", target="portable", extensions=False)
    half = quotients("half", 2)
    inputs = plain_inputs(half.signature.inputs, Manifold(()), real)
    outputs = run(half.program, inputs)
    assert FEWEST < hash_of_outputs([outputs["y"], outputs["copy"]])[1] < 0.6 * STATES
    done = selftest(render(facts(), [half], options), tmp_path, "-O2", "-ffp-contract=off")
    assert done.stdout.endswith(" as expected\n"), done.stdout


def test_a_function_with_few_finite_results_is_refused() -> None:
    """Its self-test would compare almost nothing."""
    options = EmitOptions(trig="builtin", target="portable", extensions=False)
    with pytest.raises(EmitError, match=r"^function 'few': its results are finite in only \d+ of 256 random"):
        render(facts(), [*toys(), quotients("few", 9)], options)
