"""Options for damping, friction and rotors: compiled functions, and the descriptions in generated files."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.forms import forms_of, relative_error, run_on_floats
from support.robots import PATHS
from support.states import random_inputs

import rbdgen
from rbdgen.checks.check import check
from rbdgen.cli import main
from rbdgen.errors import RbdgenError
from rbdgen.functions.table import TABLE

COMPILED = ("rnea", "aba", "crba", "potential_energy", "rnea_derivatives")
"""The functions that are compiled; all others are tested with the interpreter."""

ROTORS = {"shoulder": {"rotor_inertia": 1e-4, "gear_ratio": 100}}


DYNAMICS = '<dynamics damping="0.7" friction="0.5"/></joint>'


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    """The double pendulum with damping and friction at every joint."""
    path = tmp_path / "double_pendulum.urdf"
    path.write_text(PATHS["double_pendulum"].read_text().replace("</joint>", DYNAMICS))
    return path


CASES = [("exact", "float"), (("smooth", 0.05), "double"), ("exact", "double"), (("smooth", 0.05), "float")]


@pytest.mark.parametrize(("friction", "real"), few(CASES[:2], CASES))
def test_compiled(pendulum: Path, friction: Any, real: str) -> None:
    """Single calls and batches give the same bits, also for NaN."""
    robot = rbdgen.load_robot(pendulum, damping=True, friction=friction, armature=ROTORS)
    assert all(joint.resistance.dissipates for joint in robot.joints)
    lib = rbdgen.build(robot, COMPILED, real=real)
    for name, function in lib.functions.items():
        (textbook, *_) = forms_of(name)
        inputs = random_inputs(robot.model, textbook.function.signature, 20)
        shapes = {x.name: x.shape for x in function.signature.inputs}
        arrays = [inputs[x].reshape(20, *shape).astype(real) for x, shape in shapes.items()]
        if "v" in shapes:
            arrays[1][0], arrays[1][1] = 0.0, -0.0
        exact = {x: values.reshape(20, -1).astype(float) for x, values in zip(shapes, arrays, strict=True)}
        together = function(*arrays)
        outputs = together if isinstance(together, tuple) else (together,)
        for ours, theirs in zip(outputs, run_on_floats(textbook, robot.model, exact), strict=True):
            assert relative_error(ours, theirs, floor=1.0) < (1e-10 if real == "double" else 1e-3)
        if "v" in shapes:
            arrays[1][2, 1] = np.nan
        together = function(*arrays)
        for k in range(3):
            alone = function(*(values[k] for values in arrays))
            pairs = zip(alone, together, strict=True) if isinstance(alone, tuple) else [(alone, together)]
            assert all(np.array_equal(a, b[k], equal_nan=True) for a, b in pairs), name
        if name == "rnea":
            assert np.isnan(together[2, 1]), "what is no number stays none"


def test_folders_tell_it_and_pass_their_checks(
    pendulum: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rotors = tmp_path / "rotors.json"
    rotors.write_text(json.dumps(ROTORS))
    given = [str(pendulum), "--damping", "--friction", "smooth:0.05", "--armature", str(rotors)]
    assert main([*given, "-f", "rnea,aba,aba_derivatives", "-o", str(tmp_path)]) == 0
    folder = tmp_path / "double_pendulum"
    manifest = json.loads((folder / "manifest.json").read_text())
    first = manifest["resistance"][0]
    assert (first["joint"], first["velocity_scale"], first["armature"]) == ("shoulder", 0.05, 1.0)
    assert (manifest["options"]["damping"], manifest["options"]["friction"]) == (True, "smooth:0.05")
    assert (
        f"shoulder: d = {first['damping']!r}, f = {first['friction']!r}, e = 0.05, A = 1.0"
        in (folder / "double_pendulum.h").read_text()
    )
    assert "Every function includes joint resistance" in (folder / "README.md").read_text()
    assert manifest["warnings"] == []
    findings = check(folder)
    assert any("Pinocchio" in finding.what for finding in findings)
    assert all(finding.passed is not False for finding in findings), findings
    capsys.readouterr()
    assert main(["inspect", *given]) == 0
    shown = capsys.readouterr().out
    assert "damping 0.7, friction 0.5 (smooth below 0.05), armature 1," in " ".join(shown.split())


def test_designs_differ(pendulum: Path) -> None:
    """Each option gives a library of its own, which is not taken from the cache in place of another."""
    torques = []
    for options in ({}, {"damping": True}, {"friction": "exact"}, {"friction": "smooth:0.1"}):
        robot = rbdgen.load_robot(pendulum, **options)
        lib = rbdgen.build(robot, ["nle"])
        torques.append(lib.nle(np.zeros(2), np.full(2, 0.5)))
    assert all(np.abs(a - b).min() > 1e-6 for a, b in pairwise(torques))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"friction": "tanh"}, "friction 'tanh' is not a model; give exact, or smooth:VELOCITY"),
        ({"friction": "smooth"}, "friction 'smooth' is not a model"),
        ({"friction": "smooth:0"}, "friction 'smooth:0' is not a model"),
        ({"friction": ("smooth", float("nan"))}, "friction ('smooth', nan) is not a model"),
        ({"friction": 3}, "friction 3 is not a model"),
        ({"damping": "yes"}, "damping 'yes' is not one of the choices; give True or False"),
        ({"armature": 3}, "armature 3 is not a file or a dict"),
        ({"armature": {"elbow": 1}}, "armature: joint 'elbow' is no moving joint of 'puma560'"),
        ({"armature": {"joint1": -1}}, "armature: armature of joint 'joint1' is -1; write a number"),
        (
            {"armature": {"joint1": {"gear_ratio": 2}}},
            "armature: joint 'joint1' has gear_ratio; write armature",
        ),
        ({"armature": {"joint1": True}}, "armature: armature of joint 'joint1' is True"),
    ],
)
def test_what_makes_no_sense(options: Any, told: str) -> None:
    with pytest.raises(RbdgenError) as error:
        rbdgen.load_robot(PATHS["puma560"], **options)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_the_table_of_functions_has_no_robot(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--damping"]) == 2
    assert "list: --damping " in capsys.readouterr().err


def test_loops(pendulum: Path) -> None:
    """Looped C gives the results of straight lines; the joints' resistance differs, so it is in tables."""
    robot = rbdgen.load_robot(pendulum, damping=True, friction="smooth:0.05", armature=ROTORS)
    names = ["rnea", "aba", "crba", "aba_derivatives"]
    plain = rbdgen.build(robot, names)
    looped = rbdgen.build(robot, names, variants=dict.fromkeys(names, "looped"))
    for name, function in plain.functions.items():
        inputs = random_inputs(robot.model, TABLE[name].signature, 5)
        arrays = [inputs[x.name] for x in function.signature.inputs]
        pair = [library.functions[name](*arrays) for library in (plain, looped)]
        for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in pair), strict=True):
            assert relative_error(a, b) < 1e-11, name


@pytest.mark.parametrize("real", ["double", "float"])
def test_every_compiler_gives_the_same_bits(
    pendulum: Path, real: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signs by comparisons and by masks of vectors have the same bits, with the flags of the Makefile."""
    robot = rbdgen.load_robot(pendulum, damping=True, friction="exact")
    results = []
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        monkeypatch.setenv("CC", compiler)
        lib = rbdgen.build(robot, ["nle", "aba"], real=real)
        inputs = lib.manifold.random_inputs(lib.aba.signature.inputs, np.random.default_rng(3), (40,))
        q, v, tau = (inputs[x].astype(real) for x in ("q", "v", "tau"))
        v[:6, 1] = [0, -0.0, np.nan, np.inf, -np.inf, 1e-40]
        results.append([lib.nle(q, v), lib.aba(q, v, tau), lib.nle(q[0], v[0]), lib.nle(q[5], v[5])])
    for a, b in zip(*results, strict=True):
        assert np.array_equal(a, b, equal_nan=True)
