"""Robots with mimic joints as compiled C, as Pinocchio models, and in the example."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.mimic import Projection
from support.robots import PATHS

import rbdgen
from rbdgen.checks.check import check
from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.table import lookup

COMPILED = ("rnea", "crba", "aba_fext", "kinetic_energy")
"""Functions with all kinds of inputs and outputs except derivatives; others are tested by the interpreter."""

ROOT = Path(__file__).parents[1]

LINK = """<link name="{name}"><inertial><origin xyz="0.1 0.02 0.03" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
<inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0.2 0.1 0.3" rpy="0.4 0 1.5707963267948966"/><axis xyz="{axis}"/>{mimic}</joint>"""

JOINTS = (
    ("shoulder", "revolute", "base", "upper", "0 0 1", ""),
    (
        "slide",
        "prismatic",
        "upper",
        "lower",
        "0 1 0",
        '<mimic joint="shoulder" multiplier="-0.3" offset="0.1"/>',
    ),
    ("left", "revolute", "lower", "finger", "0 1 0", '<mimic joint="right" multiplier="-1" offset="0.5"/>'),
    ("right", "revolute", "lower", "thumb", "1 0 0", ""),
    ("tip", "revolute", "finger", "nail", "0 0 1", '<mimic joint="left" multiplier="2"/>'),
)

URDF = "\n".join(
    [
        '<robot name="hand">',
        *(LINK.format(name=name) for name in ("base", "upper", "lower", "finger", "thumb", "nail")),
        *(JOINT.format(name=n, kind=k, parent=p, child=c, axis=a, mimic=m) for n, k, p, c, a, m in JOINTS),
        "</robot>",
    ]
)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("hand")
    (folder / "hand.urdf").write_text(URDF)
    robot = rbdgen.load_robot(folder / "hand.urdf", base="floating")
    return rbdgen.generate(robot, folder, functions=COMPILED)


def test_compiled(generated: Any) -> None:
    library = rbdgen.load(generated)
    projection = Projection.of(parse_urdf(URDF), "floating")
    q = library.random(1, (4,))
    rng = np.random.default_rng(2)
    inputs = {"q": q, **{name: rng.standard_normal((4, 8)) for name in ("v", "a", "tau")}}
    inputs["fext"] = rng.standard_normal((4, 6 * 6))
    for row in map(lookup, COMPILED):
        given = [inputs[x.name] for x in row.signature.inputs]
        if row.signature.inputs[-1].kind == "external_forces":
            given[-1] = given[-1].reshape(4, 6, 6)
        found = library.functions[row.name](*given)
        outputs = found if isinstance(found, tuple) else (found,)
        for ours, theirs in zip(outputs, projection.outputs(row, inputs), strict=True):
            np.testing.assert_allclose(ours, theirs.reshape(ours.shape), rtol=1e-9, atol=1e-9)


def test_manifest_and_configurations(generated: Any) -> None:
    library = rbdgen.load(generated)
    assert library.joint_names == ("shoulder", "right")
    assert [row["joint"] for row in library.manifest["mimic"]] == ["slide", "left", "tip"]
    assert library.manifest["mimic"][2] == {
        "joint": "tip",
        "primary": "right",
        "multiplier": -2,
        "offset": 1.0,
    }
    assert (library.manifest["nq"], library.manifest["nv"], library.manifest["nbodies"]) == (9, 8, 6)
    q = library.random(3, (2,))
    positions = library.full_configuration(q)
    assert set(positions) == {"root_joint", "shoulder", "slide", "left", "right", "tip"}
    np.testing.assert_array_equal(positions["root_joint"], q[:, :7])
    np.testing.assert_allclose(positions["tip"], 1 - 2 * q[:, 8])
    np.testing.assert_allclose(positions["slide"], 0.1 - 0.3 * q[:, 7])
    v = np.random.default_rng(4).standard_normal((2, 8))
    moved = library.integrate(q, v)
    assert moved.shape == (2, 9)
    np.testing.assert_allclose(library.difference(q, moved), v, atol=1e-12)


def test_check_agrees_with_pinocchio(generated: Any) -> None:
    findings = check(Path(generated))
    assert all(finding.passed for finding in findings), findings
    assert sum("Pinocchio" in finding.what for finding in findings) == len(COMPILED)


def test_pinocchio_with_mimic_joints() -> None:
    """Compares with Pinocchio's own treatment of mimic joints."""
    text = PATHS["panda"].read_text()
    model = pin.buildModelFromXML(text, mimic=True)
    data = model.createData()
    library = rbdgen.build(rbdgen.load_robot(PATHS["panda"]), ["rnea", "crba"])
    assert (model.nv, library.manifest["nv"]) == (8, 8)
    rng = np.random.default_rng(5)
    q, v, a = rng.standard_normal((3, 8))
    np.testing.assert_allclose(library.rnea(q, v, a), pin.rnea(model, data, q, v, a), rtol=1e-11, atol=1e-11)
    M = np.triu(pin.crba(model, data, q))
    np.testing.assert_allclose(library.crba(q), M + np.triu(M, 1).T, rtol=1e-11, atol=1e-11)


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "gripper.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "mimic joints: eliminate; q: turn, left_finger\n[[0.0012 0.    ]\n [0.     0.2   ]]" in printed
    assert "all joints: turn 0.03, left_finger 0.03, right_finger 0.03" in printed
