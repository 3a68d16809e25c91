"""The files of a folder equal golden files, and compile without warnings."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.folders import selftest_sources, written
from support.loops import looped
from support.toys import facts, function, inertia, straight, tiled, torque, toys, with_angles_given

from rbdgen.emit.package import PRIVATE, EmitOptions, FunctionSource, Sources
from rbdgen.emit.python.files import BINDING, LOADER
from rbdgen.emit.render import render
from rbdgen.emit.selftest.golden import golden_vectors
from rbdgen.errors import EmitError, OptionError
from rbdgen.resources import package_root, template_root

WARNINGS = [
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Wundef",
    "-Werror",
]
PORTABLE = EmitOptions(target="portable", extensions=False)
STYLES = {
    "double_libm": PORTABLE,
    "double_input": replace(PORTABLE, trig="input"),
    "double_builtin": replace(PORTABLE, trig="builtin"),
    "float_libm": replace(PORTABLE, real="float"),
    "float_builtin": replace(PORTABLE, real="float", trig="builtin"),
    "host_builtin": EmitOptions(trig="builtin"),
}
HOSTILE = ('a"; system("x', "*/ #error ??/\n \\")


def laid_out(style: str) -> Sources:
    """Renders the folder of both toy functions in a style."""
    options = STYLES[style]
    return render(facts(), with_angles_given(toys()) if options.trig == "input" else toys(), options)


def compile_selftest(folder: Path, *flags: str) -> Path:
    program = folder / "program"
    command = ["gcc", "-std=c99", "-O1", *flags, *selftest_sources(folder), "-o", program, "-lm"]
    subprocess.run(command, check=True)
    return program


@pytest.mark.parametrize("style", ["double_libm", "float_libm", "double_input"])
def test_golden_text(golden: Callable[[str, str], None], style: str) -> None:
    sources = laid_out(style)
    carried = {f"{PRIVATE}/{file}" for file in (*LOADER, *BINDING)}
    for name, text in sources.files.items():
        if name not in carried and not name.endswith("_selftest.c"):  # its numbers are those of libm
            golden(f"emit/{style}/{name}", text)


@pytest.mark.parametrize(("name", "source"), [("looped", looped()), ("tiled", tiled())])
def test_golden_text_of_loops_and_tiles(
    golden: Callable[[str, str], None], name: str, source: FunctionSource
) -> None:
    """A function of loops, for one state and for batches; results of a batch function in tiles."""
    files = render(facts(), [source]).files
    for file in (f"toy_{name}.c", f"toy_{name}_batch.c"):
        golden(f"emit/{name}/{file}", files[file])


def test_the_same_input_gives_the_same_bytes() -> None:
    first, second = (render(facts(), toys()) for _ in range(2))
    assert list(first.files.items()) == list(second.files.items())


@pytest.mark.parametrize("style", STYLES)
def test_clean_under_warnings_and_passing_its_own_test(style: str, tmp_path: Path) -> None:
    folder = written(laid_out(style).files, tmp_path)
    program = compile_selftest(folder, *WARNINGS)
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    judged = ", which rest with the C library" if STYLES[style].trig == "libm" else " as expected"
    line = f"ok, 0 wrong elements in 2 states, bits [0-9a-f]{{8}}{judged}\n"
    assert re.fullmatch(f"torque: {line}inertia: {line}", done.stdout)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
@pytest.mark.parametrize("style", ["double_libm", "float_builtin", "double_input"])
def test_clean_as_cpp(style: str, tmp_path: Path) -> None:
    folder = written(laid_out(style).files, tmp_path)
    for source in (*folder.glob("*.c"), *folder.glob("selftest/*.c")):
        subprocess.run(["g++", "-x", "c++", *WARNINGS, "-fsyntax-only", source], check=True)


def test_a_cpp_program_links_to_the_c(tmp_path: Path) -> None:
    folder = written(render(facts(), toys(), PORTABLE).files, tmp_path)
    (folder / "main.cpp").write_text(
        '#include "toy.h"\n'
        "int main() { double q[2] = {0, 0}, M[4], g[2]; toy_inertia(q, M, g); return !(M[3] == 3.0); }"
    )
    subprocess.run(["gcc", "-std=c99", "-c", "toy_inertia.c"], cwd=folder, check=True)
    subprocess.run(["g++", "main.cpp", "toy_inertia.o", "-o", "main", "-lm"], cwd=folder, check=True)
    subprocess.run([folder / "main"], check=True)


@pytest.mark.parametrize("kind", ["value", "nan", "unwritten"])
def test_selftest_finds_a_fault(kind: str, tmp_path: Path) -> None:
    files = dict(render(facts(), toys(), PORTABLE).files)
    if kind == "value":
        pattern = r"(torque_tau_1\[2\] = \{\n    )(-?)(\d)\.(\d)"
        files["selftest/toy_selftest.c"], count = re.subn(
            pattern, lambda m: f"{m[1]}{m[2]}{m[3]}.{9 - int(m[4])}", files["selftest/toy_selftest.c"]
        )
    elif kind == "nan":
        files["toy_torque.c"], count = re.subn(
            r"tau\[1\] = .*;", "tau[1] = 0.0 / 0.0;", files["toy_torque.c"]
        )
    else:
        files["toy_torque.c"], count = re.subn(r"tau\[1\] = .*;", "", files["toy_torque.c"])
    assert count == 1
    done = subprocess.run(
        [compile_selftest(written(files, tmp_path))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout.startswith("torque: FAILED, ")
    assert "\ninertia: ok, 0 wrong elements in 2 states, " in done.stdout


def test_nothing_from_a_description_reaches_the_code(tmp_path: Path) -> None:
    """The statements equal those of a harmless robot; hostile texts are escaped in comments."""
    hostile = facts(robot_name=HOSTILE[0] + HOSTILE[1], joints=HOSTILE)
    sources = render(hostile, toys(), PORTABLE)
    folder = written(sources.files, tmp_path)
    subprocess.run([compile_selftest(folder, *WARNINGS)], check=True, capture_output=True)
    comment = re.compile(r"/\*.*?\*/", re.DOTALL)
    for name, text in render(facts(), toys(), PORTABLE).files.items():
        if name.endswith(".c"):
            assert comment.sub("", text) == comment.sub("", sources.files[name])
    defines = re.findall(r"#define TOY_Q_(\w+) (\d) ", sources.files["toy.h"])
    assert defines == [("A_SYSTEM_X", "0"), ("ERROR", "1")]
    assert json.loads(sources.files["manifest.json"])["joints"][1]["name"] == HOSTILE[1]
    for name, text in sources.files.items():
        if name.endswith((".py", ".pyi")):
            ast.parse(text)


def test_joints_that_sanitise_alike_have_macros_of_their_own() -> None:
    header = render(facts(joints=("a b", "a-b")), toys()).files["toy.h"]
    assert "#define TOY_Q_A_B 0 " in header
    assert "#define TOY_Q_A_B_2 1 " in header


def test_a_small_machine_gets_no_python_package() -> None:
    """The folder has only C, its build files, a page and the manifest: no module of Python, no C that needs
    Python.
    """
    small = replace(PORTABLE, prefix="arm-none-eabi-")
    files = render(facts(), toys(), small).files
    assert {str(Path(name).parent) for name in files} == {".", "selftest"}
    assert not [name for name in files if name.endswith((".py", ".pyi", ".typed"))]
    assert not [name for name, text in files.items() if "Python.h" in text or "binding" in text]
    assert {"toy.h", "toy.hpp", "toy_torque.c", "Makefile", "README.md"} <= set(files)


def test_loader_and_binding_travel_unchanged() -> None:
    files = render(facts(), toys()).files
    for module in LOADER:
        assert files[f"{PRIVATE}/{module}"] == (package_root() / module).read_text(encoding="utf-8")
    for file in BINDING:
        assert files[f"{PRIVATE}/{file}"] == (template_root() / "python" / file).read_text(encoding="utf-8")
    present = {f"runtime/{path.name}" for path in (package_root() / "runtime").glob("*.py")}
    assert present <= set(LOADER)


def test_manifest() -> None:
    sources = render(replace(facts(), merged=(("tool", "knee"),), snapped=(("hip", 5e-12),)), toys())
    manifest = sources.manifest
    assert manifest["files"] == list(sources.files)
    assert manifest["merged_links"] == [{"link": "tool", "body": "knee"}]
    assert manifest["snapped"] == [{"joint": "hip", "change": 5e-12}]
    assert manifest["joints"][1]["upper"] is None
    facts_of_torque = manifest["functions"]["torque"]
    assert facts_of_torque["symbol"] == "toy_torque"
    assert facts_of_torque["c_bytes"] == len(sources.files["toy_torque.c"])
    assert facts_of_torque["operations"] == {
        "add": 3, "sub": 3, "mul": 5, "div": 1, "neg": 1, "sq": 1, "sqrt": 1, "sin": 2, "cos": 2, "total": 19,
    }  # fmt: skip
    assert facts_of_torque["inputs"][0] == {
        "name": "q", "kind": "configuration", "shape": [2], "unit": "rad",
            "meaning": "joint positions",
    }  # fmt: skip


def test_golden_states_are_reproducible_and_within_bounds() -> None:
    vectors = golden_vectors(facts(), torque(), "float")
    assert vectors == golden_vectors(facts(), torque(), "float")
    assert vectors.tolerance < 1e-3
    assert all(abs(x) <= 3 for case in vectors.cases for x in case.inputs["q"])


def test_refusals() -> None:
    with pytest.raises(EmitError, match="no function to emit"):
        render(facts(), ())
    with pytest.raises(EmitError, match="'torque' is to be emitted twice"):
        render(facts(), (torque(), torque()))
    with pytest.raises(EmitError, match="'manifest'; the generated package needs that name"):
        function("manifest", straight(torque()), torque().signature.inputs, torque().signature.outputs)
    with pytest.raises(EmitError, match="not those of the signature"):
        function("other", straight(torque()), inertia().signature.inputs, torque().signature.outputs)
    with pytest.raises(EmitError, match="not those of the signature"):
        replace(torque(), batch=inertia().batch)
    with pytest.raises(EmitError, match="cannot name a generated package"):
        facts(name="json")
    with pytest.raises(OptionError, match=r"real=.* is not known"):
        render(facts(), toys(), EmitOptions(real="half"))  # type: ignore[arg-type]
