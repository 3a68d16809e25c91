"""If a folder is generated anew in one process, each library keeps the code that it was opened with."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.toys import facts, function, straight, torque

from rbdgen.emit.package import FunctionSource
from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.pipeline.rebuild import open_built
from rbdgen.runtime import Library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build, package_files

GRAVITIES = (-9.81, -1.62, -3.72)
Q, V = np.array([np.pi / 2, 0.0]), np.zeros(2)
QS = np.stack([Q] * 5)

Generate = Callable[[float], Path]


def with_gravity(value: float) -> FunctionSource:
    graph = straight(torque())
    nodes = tuple(node._replace(value=value) if node.value == -9.81 else node for node in graph.nodes)
    signature = torque().signature
    return function("torque", replace(graph, nodes=nodes), signature.inputs, signature.outputs)


@pytest.fixture
def generate(build_cache: Cache, tmp_path: Path) -> Generate:
    """Writes the robot with another gravity to one and the same folder."""
    toolchain = Toolchain(find_compiler(), ("-O2", "-ffp-contract=off"), 2)

    def write(gravity: float) -> Path:
        files = package_files(build(render(facts(), (with_gravity(gravity),)), toolchain, build_cache))
        write_folder(tmp_path / "toy", files)
        return tmp_path / "toy"

    return write


def gravities(lib: Library) -> set[float]:
    """Computes gravity by all ways of calling: quick, careful, with many states, bound."""
    step = lib.torque.bind(Q, V)
    step()
    results = [lib.torque(Q, V), lib.torque(list(Q), V), step.out, *lib.torque(QS, V)]
    return {float(result[0]) for result in results}


def test_every_library_keeps_to_its_code(generate: Generate) -> None:
    libraries = [open_built(generate(gravity)) for gravity in (*GRAVITIES, GRAVITIES[0])]
    for lib, gravity in zip(libraries, (*GRAVITIES, GRAVITIES[0]), strict=True):
        assert gravities(lib) == {gravity}
        assert f"{-gravity}" in lib.torque.source


def test_what_is_pickled_is_what_runs(
    generate: Generate, build_cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RBDGEN_CACHE", str(build_cache.root))
    libraries = []
    for gravity in GRAVITIES[:2]:
        libraries.append(open_built(generate(gravity)))
        assert gravities(pickle.loads(pickle.dumps(libraries[-1]))) == {gravity}
    for lib, gravity in zip(libraries, GRAVITIES, strict=False):
        assert gravities(pickle.loads(pickle.dumps(lib))) == {gravity}


def test_a_package_imported_and_reloaded(generate: Generate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(generate(GRAVITIES[0]).parent)
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "toy", raising=False)
        toy = importlib.import_module("toy")
        first = toy.library
        for gravity in GRAVITIES[1:]:
            generate(gravity)
            importlib.reload(toy)
            assert gravities(toy.library) == {gravity}
            assert gravities(first) == {GRAVITIES[0]}
            assert gravities(pickle.loads(pickle.dumps(toy.library))) == {gravity}
        with pytest.raises(toy._rbdgen.errors.LoadError, match="is not the package that was pickled"):
            pickle.loads(pickle.dumps(first))
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[name]


EDITED = """
import sys
import numpy as np, rbdgen
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from pathlib import Path
q, z = np.array([.3, -.7]), np.zeros(2)
for path in sys.argv[1:]:
    folder = generate(rbdgen.load_robot(path), Options(functions=("rnea",), name="same"), Path("o")).folder
    print(*rbdgen.load(folder).rnea(q, z, z))
"""


def test_edit_generate_load(tmp_path: Path) -> None:
    """A notebook edits a robot, generates and loads it again."""
    robots = Path(__file__).resolve().parents[2] / "robots"
    text = (robots / "double_pendulum.urdf").read_text()
    (tmp_path / "heavy.urdf").write_text(text.replace('mass value="', 'mass value="10'))

    def printed(*paths: Path) -> list[str]:
        command = [sys.executable, "-c", EDITED, *map(str, paths)]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    pair = [robots / "double_pendulum.urdf", tmp_path / "heavy.urdf"]
    assert printed(*pair) == [line for path in pair for line in printed(path)]
    assert len(set(printed(*pair))) == 2
