"""The reference of the C folder and of the manifest names what folders have."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.pages import text_of

import rbdgen


def test_the_program_in_cpp_prints_what_the_page_says(tmp_path: Path) -> None:
    text = text_of("reference/c.md")
    (code,) = re.findall(r"^```cpp\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (printed,) = re.findall(r"^The program prints\n\n```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    folder = rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="portable")
    (tmp_path / "main.cpp").write_text(code, encoding="utf-8")
    compiled, program = tmp_path / "rnea.o", tmp_path / "main"
    subprocess.run(["gcc", "-c", "-O1", folder / "double_pendulum_rnea.c", "-o", compiled], check=True)
    options = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-I", folder]
    subprocess.run(["g++", *options, tmp_path / "main.cpp", compiled, "-o", program], check=True)
    assert subprocess.run([program], check=True, capture_output=True, text=True).stdout == printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled folder of a robot that has frames, contacts, parameters and damping."""
    robot = rbdgen.load_robot(
        "double_pendulum", frames=["lower"], contacts=[rbdgen.Point("tip", "lower")], damping=True
    )
    functions = ["gravity", "gravity_vjp", "frame_placement"]
    return rbdgen.generate(robot, tmp_path_factory.mktemp("folder"), functions, params=["mass:lower"])


def test_every_file_is_explained(folder: Path) -> None:
    page = text_of("reference/c.md")
    for path in (*folder.iterdir(), *folder.glob("selftest/*")):
        shown = path.relative_to(folder).as_posix()
        name = re.sub(r"^((?:selftest/)?)double_pendulum(?=[._])", r"\1NAME", shown)
        function = re.match(r"NAME_(?!batch|lanes)\w+?(_batch)?\.c$", name)
        named = name if function is None else f"NAME_FUNCTION{function[1] or ''}.c"
        if path.is_file() and not path.name.startswith("_double") and name != "py.typed":
            assert f"`{named}`" in page


def test_every_key_is_explained(folder: Path) -> None:
    """Keys of the manifest, of functions and of arguments."""
    page = text_of("reference/manifest.md")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    functions = list(manifest["functions"].values())
    arguments = [x for function in functions for x in (*function["inputs"], *function["outputs"])]
    known = set(re.findall(r"`(\w+)`", page))
    for row in (manifest, *functions, *arguments):
        assert set(row) <= known
