"""Opening folders, and the attributes of a library that describe its robot."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.toys import facts, function, straight, torque, toys

from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.errors import ArrayTypeError, ArrayValueError, LoadError
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.model.joints import Floating, Revolute
from rbdgen.runtime import Library, open_library
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.space import JointCoordinates
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build, package_files


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)


@pytest.fixture(scope="module")
def folder(build_cache: Cache, toolchain: Toolchain) -> Path:
    return build(render(facts(), toys()), toolchain, build_cache)


@pytest.fixture(scope="module")
def floating(build_cache: Cache, toolchain: Toolchain) -> Library:
    """A floating base with two joints and one function that copies q."""
    q = SizedArgument("q", (9,), "m, rad", "positions", "configuration")
    graph = Graph((Input("q", 9),), (Node("input", value=6.0),), (Output("w", (1,), (0,)),))
    copy = function("copy", graph, (q,), (SizedArgument("w", (1,), "1", "last of the quaternion"),))
    two = facts("float2").joints
    joints = tuple(replace(joint, idx_q=joint.idx_q + 7, idx_v=joint.idx_v + 6) for joint in two)
    base = JointCoordinates("base", Floating().space, 0, 0)
    angles = (JointCoordinates(x.name, Revolute().space, x.idx_q, x.idx_v) for x in joints)
    manifold = Manifold((base, *angles))
    robot = replace(facts("float2"), base="floating", nq=9, nv=8, nbodies=3, joints=joints, manifold=manifold)
    return open_library(build(render(robot, (copy,)), toolchain, build_cache))


def test_what_a_library_tells(folder: Path) -> None:
    lib = open_library(str(folder))
    assert lib.name == "toy"
    assert lib.joint_names == ("hip", "knee")
    assert lib.idx_q == lib.idx_v == (0, 1)
    assert list(lib.functions) == ["torque", "inertia"]
    assert lib.functions["torque"] is lib.torque
    assert (lib.nq, lib.nv, lib.nbodies) == (2, 2, 2)
    assert repr(lib) == "<toy: torque, inertia>"
    with pytest.raises(AttributeError, match="no function 'aba' was generated; there are: torque, inertia"):
        _ = lib.aba
    with pytest.raises(TypeError):
        lib.manifest["nq"] = 3  # type: ignore[index]


def test_normalize(floating: Library, folder: Path) -> None:
    q = np.arange(18, dtype=int).reshape(2, 9)
    result = floating.normalize(q)
    np.testing.assert_allclose(np.linalg.norm(result[:, 3:7], axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(result[:, [0, 1, 2, 7, 8]], q[:, [0, 1, 2, 7, 8]])
    np.testing.assert_allclose(result[0, 3:7], np.array([3, 4, 5, 6]) / np.sqrt(86))
    q = np.array([0.5, 7.0])
    same = open_library(folder).normalize(q)
    np.testing.assert_array_equal(same, q)
    assert not np.shares_memory(same, q)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e308, 5e-324])
def test_normalize_of_any_size(floating: Library, size: float) -> None:
    q = np.zeros((2, 9))
    q[:, 3:7] = [[3, 4, 0, 0], [1, 1, 1, 1]]
    expected = floating.normalize(q)
    q[:, 3:7] = [[size, 0, 0, 0], [size, size, size, size]]
    np.testing.assert_array_equal(floating.normalize(q)[:, 3:7], [[1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]])
    q[0, 3:7] = [0.6, 0.8, 0, 0]
    np.testing.assert_allclose(floating.normalize(q)[0], expected[0], rtol=1e-15)


def test_normalize_refuses(floating: Library) -> None:
    with pytest.raises(ArrayValueError, match="a quaternion has length zero"):
        floating.normalize(np.zeros((3, 9)))
    with pytest.raises(ArrayValueError, match=r"normalize: q has shape \(8,\), expected \(\.\.\., 9\)"):
        floating.normalize(np.zeros(8))
    with pytest.raises(ArrayTypeError, match="normalize: q has dtype complex128"):
        floating.normalize(np.zeros(9, complex))
    with pytest.raises(ArrayTypeError, match="normalize: q is a masked array"):
        floating.normalize(np.ma.array(np.ones(9)))


def test_two_builds_of_one_robot_live_side_by_side(
    folder: Path, toolchain: Toolchain, build_cache: Cache
) -> None:
    """The builds have equal names and symbols but other numbers; each library calls its own code."""
    graph = straight(torque())
    nodes = tuple(node._replace(value=-1.0) if node.value == -9.81 else node for node in graph.nodes)
    signature = torque().signature
    light = function("torque", replace(graph, nodes=nodes), signature.inputs, signature.outputs)
    moon = open_library(build(render(facts(), (light,)), toolchain, build_cache))
    earth = open_library(folder)
    q, v = [np.pi / 2, 0.0], [0.0, 0.0]
    assert earth.torque(q, v)[0] == -9.81
    assert moon.torque(q, v)[0] == -1.0
    assert earth.torque(q, v)[0] == -9.81


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="not the manifest of a generated folder; generate it again"):
        open_library(tmp_path)
    for text in ("", "[]", "{}", '"x"'):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(LoadError, match="not the manifest of a generated folder"):
            open_library(tmp_path)


def test_a_folder_not_compiled(tmp_path: Path) -> None:
    write_folder(tmp_path / "toy", render(facts(), toys()).files)
    with pytest.raises(LoadError, match="'toy' has not been compiled; generate it with compiled=True"):
        open_library(tmp_path / "toy")


@pytest.mark.parametrize(
    "text", ["[" * 50_000, '{"name": "toy", "format": 1, "build": {}}'], ids=["deep", "older"]
)
def test_a_manifest_that_cannot_be_read(folder: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    message = r"not the manifest of a generated folder|its format is 1, this rbdgen opens 5"
    with pytest.raises(LoadError, match=rf"manifest\.json: ({message}); generate (it|the folder) again$"):
        open_library(tmp_path)


@pytest.mark.parametrize("module", ["module", "calls"])
def test_a_module_that_was_cut_off(folder: Path, tmp_path: Path, module: str) -> None:
    """The test runs in a separate process, as reading past the end of a mapped file ends a process."""
    copy = tmp_path / "toy"
    shutil.copytree(folder, copy)
    path = copy / json.loads((copy / "manifest.json").read_text())["build"][module]
    path.write_bytes(path.read_bytes()[:8192])
    done = subprocess.run(
        [sys.executable, "-c", "import toy"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert line.endswith(f"{path.name}: is not the file that was built; generate the folder again")


@pytest.mark.parametrize("damage", ["module", "missing", "functions"])
def test_a_damaged_folder(folder: Path, tmp_path: Path, damage: str) -> None:
    copy = tmp_path / "toy"
    shutil.copytree(folder, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    module = copy / manifest["build"]["module"]
    if damage == "module":
        module.write_bytes(b"not a module")
    elif damage == "missing":
        module.unlink()
    else:
        del manifest["functions"]["torque"]["symbol"]
        (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(LoadError, match=r"is not the file|cannot be loaded here|does not describe") as caught:
        open_library(copy)
    assert str(caught.value).endswith(
        "generate the folder again" if damage != "functions" else "generate it again"
    )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="XOP is an instruction set of x86")
@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
def test_a_processor_that_lacks_an_instruction_set(compiler: str, build_cache: Cache, tmp_path: Path) -> None:
    """AMD dropped XOP and FMA4 with Zen, so code that is compiled for them ends a process today."""
    toolchain = Toolchain(find_compiler(compiler), ("-mxop", "-O1", "-ffp-contract=off"), 2)
    built = build(render(facts(), toys()), toolchain, build_cache)
    with pytest.raises(LoadError) as caught:
        open_library(built)
    needs = "sse3, ssse3, sse4.1, sse4.2, popcnt, avx, fma4, xop"
    (lacking,) = re.findall(
        r": compiled for (.+), which this processor lacks; generate it", str(caught.value)
    )
    assert "fma4, xop" in lacking
    assert set(lacking.split(", ")) <= set(needs.split(", "))
    assert 'arch="x86-64-v2"' in str(caught.value)
    write_folder(tmp_path / "toy", package_files(built))
    done = subprocess.run(
        [sys.executable, "-c", "import toy"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "which this processor lacks" in done.stderr


def test_what_is_compiled_for_this_processor_opens(build_cache: Cache) -> None:
    toolchain = Toolchain(find_compiler(), ("-march=native", "-O1", "-ffp-contract=off"), 2)
    lib = open_library(build(render(facts(), toys()), toolchain, build_cache))
    assert lib.torque([0.0, 0.0], [0.0, 0.0]).shape == (2,)
