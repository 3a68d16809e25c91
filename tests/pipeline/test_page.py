"""The pipeline writes the same files everywhere, leaves nothing incomplete, and loses nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import rbdgen as in_a_process
from support.forms import relative_error
from support.robots import BUNDLED

import rbdgen
from rbdgen.errors import BuildError, EmitError, GraphError, OptionError
from rbdgen.options import Options
from rbdgen.pipeline.design import design_function
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.selection.choice import Choice
from rbdgen.selection.choose import choose
from rbdgen.spatial.ops import Vector

PENDULUM = BUNDLED["double_pendulum"]

RNEA = Options(functions=("rnea",))

Files = dict[str, bytes]


def files_of(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def states(nq: int, nv: int, count: int = 20) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(2)
    return [rng.uniform(-2, 2, (count, nq)), *rng.standard_normal((2, count, nv))]


# ---- build() and its options


def test_the_second_build_designs_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = rbdgen.load_robot(PENDULUM)
    first = rbdgen.build(robot, ["rnea"])
    monkeypatch.setattr("rbdgen.pipeline.page.design", None)
    monkeypatch.setattr(sys.modules["rbdgen.toolchain.objects"], "compile_all", None)
    second = rbdgen.build(robot, ["rnea"])
    q, v, a = states(2, 2)
    assert second.folder == first.folder
    assert second.rnea(q, v, a).tolist() == first.rnea(q, v, a).tolist()


def test_no_illegal_program_is_emitted(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose_wrongly(*args: Any, **settings: Any) -> Choice:
        choice = choose(*args, **settings)
        return replace(choice, program=replace(choice.program, loops=choice.program.loops[1:]))

    monkeypatch.setattr("rbdgen.selection.differentiate.choose", choose_wrongly)
    with pytest.raises(GraphError, match="output 'tau': 2 elements stay unwritten"):
        design_function((Request(load_robot(PENDULUM), RNEA), None, None, {}))


def test_what_changes_the_build() -> None:
    """Gravity, snap and options are part of the key; a robot that is read twice has the same key."""
    folders = [
        rbdgen.build(rbdgen.load_robot(PENDULUM, **load), ["rnea"], **options).folder
        for load, options in (
            ({}, {}),
            ({"gravity": (0, 0, -1.62)}, {}),
            ({"base": "floating"}, {}),
            ({}, {"real": "float"}),
            ({}, {"name": "other"}),
        )
    ]
    assert len(set(folders)) == len(folders)
    assert rbdgen.build(rbdgen.load_robot(PENDULUM), ["rnea"]).folder == folders[0]


def test_gravity_is_the_users() -> None:
    q = states(2, 2)[0]
    earth, moon = (
        rbdgen.build(rbdgen.load_robot(PENDULUM, gravity=(0, 0, g)), ["gravity"]).gravity(q)
        for g in (-9.81, -1.62)
    )
    np.testing.assert_allclose(moon, earth * 1.62 / 9.81, rtol=1e-12)


@pytest.mark.parametrize(
    "gravity",
    [(0, 0), (0, 0, -9.81, 0), "abc", "1 2 3", 9.81, (0, 0, "x"), (0, None, 1), (0, 0, float("nan"))]
    + [(0, 0, float("-inf")), (0, 0, 10**400), (0, 0, 1j), np.zeros((3, 2)), {}],
    ids=repr,
)
def test_gravity_is_three_numbers(gravity: Any) -> None:
    with pytest.raises(OptionError, match=r"^gravity .* is not a vector; give three numbers in m/s\^2"):
        load_robot(PENDULUM, gravity=gravity)


def test_gravity_of_any_numbers() -> None:
    for gravity in ([0, 0, -2], np.array([0.0, 0.0, -2.0], np.float32), (0, 0, Fraction(-2))):
        assert load_robot(PENDULUM, gravity=gravity).model.gravity == Vector(0, 0, -2)  # type: ignore[arg-type]


@pytest.mark.parametrize("snap", [float("nan"), -1e-9, 1, float("inf"), "1e-9", None, 1j, [0.0]], ids=repr)
def test_snap_is_a_small_number(snap: Any) -> None:
    with pytest.raises(
        OptionError, match=r"^snap .* is not a number in range; give a number from 0 \(off\) to 0\.1$"
    ):
        load_robot(PENDULUM, snap=snap)


@pytest.mark.parametrize("base", [1, b"fixed", ["fixed"], np.array(["fixed", "x"]), "", "FIX"], ids=repr)
def test_base_is_one_of_two_words(base: Any) -> None:
    with pytest.raises(OptionError, match=r"^base .* is not known; choose fixed or floating$"):
        load_robot(PENDULUM, base=base)


OPTIONS: dict[str, tuple[dict[str, Any], float]] = {
    "libm": ({"trig": "libm"}, 1e-13),
    "sympy": ({"engine": "sympy"}, 1e-13),
    "graph": ({"engine": "graph"}, 1e-13),
    "contraction": ({"contract": True}, 1e-13),
    "no savings": ({"savings": False}, 1e-13),
    "textbook's form": ({"variants": {"rnea": "newton_euler"}}, 1e-13),
    "single precision": ({"real": "float"}, 1e-5),
    "portable": ({"target": "portable"}, 1e-13),
}


@pytest.mark.parametrize("which", OPTIONS)
def test_options_give_the_same_numbers(which: str) -> None:
    options, tolerance = OPTIONS[which]
    robot = rbdgen.load_robot(BUNDLED["planar3r"])
    plain, other = (rbdgen.build(robot, ["rnea"], **given) for given in ({}, options))
    x = states(3, 3)
    ours = other.rnea(*x)
    assert ours.dtype == (np.float32 if which == "single precision" else np.float64)
    assert relative_error(ours.astype(float), plain.rnea(*x)) < tolerance


def test_sines_and_cosines_as_input() -> None:
    robot = rbdgen.load_robot(BUNDLED["planar3r"])
    plain, other = (rbdgen.build(robot, ["rnea"], trig=trig) for trig in ("builtin", "input"))
    q, v, a = states(3, 3)
    by_name = {"v": v, "a": a, "q": q}
    for argument in other.rnea.signature.inputs:
        if argument.name not in by_name:
            of = {"s": np.sin, "c": np.cos}[argument.name[0]]
            by_name[argument.name] = of(q)
    ours = other.rnea(*(by_name[argument.name] for argument in other.rnea.signature.inputs))
    assert relative_error(ours, plain.rnea(q, v, a)) < 1e-13


def test_unknown_options_and_arguments_are_refused() -> None:
    robot = rbdgen.load_robot(PENDULUM)
    with pytest.raises(OptionError, match=r"^variants='looped': give a dict \{function: form\}"):
        rbdgen.build(robot, functions=["rnea"], variants="looped")
    with pytest.raises(OptionError, match=r"^functions='rnea': give a list of names"):
        rbdgen.build(robot, functions="rnea")
    with pytest.raises(OptionError, match="unknown option 'speed'"):
        rbdgen.build(robot, ["rnea"], speed="high")
    with pytest.raises(OptionError, match="unknown function 'rnee'"):
        rbdgen.build(robot, ["rnee"])
    with pytest.raises(OptionError, match="base 'loose' is not known"):
        rbdgen.load_robot(PENDULUM, base="loose")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="unknown engine"):
        rbdgen.build(robot, ["rnea"], engine="maple")


# ---- the folder


ISOLATED = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"rbdgen", "casadi", "sympy", "jinja2", "lxml", "rich", "pinocchio"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
sys.path[:0] = sys.argv[1:]
import double_pendulum as robot
print(robot.joint_names, robot.idx_v, robot.rnea([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]).tolist())
"""


def test_the_package_needs_numpy_and_cffi_alone(tmp_path: Path) -> None:
    """Runs an interpreter without site-packages, with the folders of NumPy and cffi only."""
    generate(load_robot(PENDULUM), RNEA, tmp_path / "out")
    needed = tmp_path / "needed"
    needed.mkdir()
    installed = Path(np.__file__).parents[1]
    for pattern in ("numpy", "numpy.libs", "cffi", "_cffi_backend*"):
        for path in installed.glob(pattern):
            (needed / path.name).symlink_to(path)
    command = [sys.executable, "-I", "-S", "-c", ISOLATED, str(tmp_path / "out"), str(needed)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env={})
    tau = rbdgen.build(load_robot(PENDULUM), ["rnea"]).rnea([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    assert done.stderr == ""
    assert done.stdout == f"('shoulder', 'elbow') (0, 1) {tau.tolist()}\n"


def test_the_same_to_the_byte_anywhere(tmp_path: Path) -> None:
    """Files do not depend on folders, on the hash seed or on the cache."""
    results = []
    for seed in ("1", "2"):
        here = tmp_path / seed
        here.mkdir()
        done = in_a_process(
            *(BUNDLED["planar3r"], "-f", "rnea,aba,minv", "--no-compile", "-q", "-o", f"out{seed}"),
            cwd=here,
            RBDGEN_CACHE=str(here / "cache"),
            PYTHONHASHSEED=seed,
        )
        assert done.stderr == ""
        results.append(files_of(here / f"out{seed}" / "planar3r"))
    assert results[0] == results[1]
    assert not any(str(tmp_path).encode() in text for text in results[0].values())


def renamed(text: str, **names: str) -> str:
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return text


HOSTILE = "a&quot;; system(&quot;x */ ??/ \\ {{ 1 }} {% x %}"


@pytest.mark.parametrize(
    ("names", "joints"),
    [
        ({"shoulder": HOSTILE, "upper": HOSTILE, "double_pendulum": HOSTILE}, None),
        ({"shoulder": "a joint", "elbow": "a-joint"}, ("a joint", "a-joint")),
        ({"shoulder": "int", "elbow": "q", "upper": "tau", "double_pendulum": "class"}, ("int", "q")),
        ({"shoulder": "épaule", "elbow": "肘", "double_pendulum": "numpy"}, ("épaule", "肘")),
    ],
    ids=["hostile", "alike", "reserved", "foreign"],
)
def test_any_names(names: dict[str, str], joints: tuple[str, str] | None, tmp_path: Path) -> None:
    """Names become valid and different identifiers, and the manifest has them unchanged."""
    path = tmp_path / "robot.urdf"
    path.write_text(renamed(PENDULUM.read_text(), **names), encoding="utf-8")
    folder = generate(load_robot(path), RNEA, tmp_path / "out").folder
    lib = rbdgen.load(folder)
    assert lib.joint_names == (joints or (HOSTILE.replace("&quot;", '"'), "elbow"))
    x = states(2, 2)
    plain = rbdgen.build(load_robot(PENDULUM), ["rnea"])
    assert lib.rnea(*x).tolist() == plain.rnea(*x).tolist()
    assert folder.name.isidentifier()
    assert all(
        b'system("x' not in text for name, text in files_of(folder).items() if name.endswith((".c", ".h"))
    )


def test_a_name_of_ones_own(tmp_path: Path) -> None:
    result = generate(load_robot(PENDULUM), replace(RNEA, name="acrobot"), tmp_path)
    assert result.folder == tmp_path / "acrobot"
    assert (result.manifest["name"], result.manifest["robot_name"]) == ("acrobot", "double_pendulum")
    assert "void acrobot_rnea(" in (result.folder / "acrobot.h").read_text()


# ---- nothing is incomplete, nothing is lost


def fake_compiler(folder: Path, then: str) -> str:
    """A script that acts as gcc until it has to compile; then it runs `then`."""
    path = folder / "fakecc"
    path.write_text(f'#!/bin/sh\ncase " $* " in *" -c "*) {then};; *) exec gcc "$@";; esac\n')
    path.chmod(0o755)
    return str(path)


FAILURES: dict[str, str] = {
    "refuses": "echo 'f.c:1: error: no' >&2; exit 1",
    "crashes": "kill -SEGV $$",
    "leaves rubbish": 'for last; do :; done; echo rubbish > "$last"; exit 0',
}


@pytest.mark.parametrize(
    ("failure", "stands"), [("refuses", True), ("crashes", False), ("leaves rubbish", True)]
)
def test_a_failing_compiler_leaves_all_as_it_was(
    failure: str, stands: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RBDGEN_CACHE", str(tmp_path / "cache"))  # without objects of earlier builds
    out = tmp_path / "out"
    if stands:
        generate(load_robot(PENDULUM), RNEA, out)
    before = files_of(tmp_path / "out") if stands else None
    monkeypatch.setenv("CC", fake_compiler(tmp_path, FAILURES[failure]))
    with pytest.raises(BuildError):
        generate(load_robot(PENDULUM), Options(functions=("rnea", "crba")), out)
    assert (files_of(out) if stands else None) == before
    assert stands or not out.exists()


def test_what_is_the_users_stays(tmp_path: Path) -> None:
    folder = tmp_path / "double_pendulum"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(EmitError, match="not generated by rbdgen"):
        generate(load_robot(PENDULUM), RNEA, tmp_path)
    assert files_of(tmp_path) == {"double_pendulum/notes.txt": b"mine"}


@pytest.mark.parametrize("compiled", [False, True], ids=["C only", "compiled"])
def test_several_processes_at_once(compiled: bool, tmp_path: Path) -> None:
    """If processes share a cache and a folder, the complete result of the last one remains."""
    options = ["-f", "rnea,crba", "-q", "-o", str(tmp_path / "out"), *([] if compiled else ["--no-compile"])]
    run: Callable[[int], Any] = lambda _: in_a_process(  # noqa: E731
        PENDULUM, *options, cwd=tmp_path, RBDGEN_CACHE=str(tmp_path / "cache")
    )
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(run, range(3)))
    assert [(each.returncode, each.stderr) for each in done] == [(0, "")] * 3
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["double_pendulum"]
    if compiled:
        lib = rbdgen.load(tmp_path / "out" / "double_pendulum")
        assert lib.crba(np.zeros(2)).shape == (2, 2)


def test_code_of_another_machine_is_not_loaded_here() -> None:
    robot = load_robot(BUNDLED["double_pendulum"])
    with pytest.raises(
        OptionError, match="does not run on this machine; take target='host', or write a folder"
    ):
        rbdgen.build(robot, functions=["rnea"], target="cortex-m4f", real="float")


@pytest.mark.parametrize("out", ["a\0b", "a\ud800b"])
def test_a_folder_that_cannot_be(out: str) -> None:
    robot = load_robot(BUNDLED["double_pendulum"])
    with pytest.raises(OptionError, match=r"is no name of a folder; choose another out$"):
        generate(robot, Options(functions=("gravity",)), Path(out), compiled=False)
