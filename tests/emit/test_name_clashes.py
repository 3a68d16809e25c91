"""The C of a robot is right for any name of the robot: checks of all words, and builds for special names."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.toys import facts, function, straight, torque

from rbdgen.cli import main
from rbdgen.emit.names import check_argument_name, check_robot_name, robot_identifier
from rbdgen.emit.package import FunctionSource
from rbdgen.emit.render import render
from rbdgen.emit.reserved import LOCAL
from rbdgen.errors import EmitError
from rbdgen.functions.function import Function
from rbdgen.functions.table import TABLE
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.model.build import Base, Robot
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.page import emit
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root, template_root
from rbdgen.runtime import open_library
from rbdgen.signature import SizedArgument

NAME, OTHER = "Alpha", "Omega"
OWN = Options(real="float", target="portable")
FOLDERS: tuple[tuple[Base, Options, int], ...] = (
    ("fixed", Options(), 0),
    ("floating", OWN, 1),
    ("fixed", Options(), 2),
)
"""The base, the options and the number of the form; form 2 of most functions has loops over bodies."""

C_FILES = (".c", ".h", ".hpp")


@pytest.fixture(scope="module")
def folders() -> list[dict[str, Mapping[str, str]]]:
    """The files of the double pendulum by name, with every function in three forms, for host and boards."""
    made = []
    for base, common, number in FOLDERS:
        robot = load_robot(robot_root() / "double_pendulum.urdf", base)
        rows = [row for row in TABLE.values() if number < len(row.forms)]
        forms = {row.name: row.forms[number].name for row in rows}
        options = replace(common, functions=tuple(forms), variants=forms)
        functions = design_functions(Request(robot, options))
        made.append(
            {
                name: emit(Request(robot, replace(options, name=name)), functions).files
                for name in (NAME, OTHER)
            }
        )
    return made


def words(text: str) -> set[str]:
    """The identifiers and keywords of a C file, without those in comments and strings."""
    code = re.sub(r'/\*.*?\*/|"(\\.|[^"\\\n])*"|//[^\n]*', " ", text, flags=re.DOTALL)
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", code))


def words_of(folders: list[dict[str, Mapping[str, str]]]) -> set[str]:
    return {
        word
        for folder in folders
        for path, text in folder[NAME].items()
        if path.endswith(C_FILES)
        for word in words(text)
    }


def test_the_name_is_a_prefix_and_nothing_else(folders: list[dict[str, Mapping[str, str]]]) -> None:
    """Files differ only by the robot's name, which is always the beginning of a word."""

    def renamed(text: str) -> str:
        return text.replace(NAME, OTHER).replace(NAME.upper(), OTHER.upper())

    for folder in folders:
        assert {renamed(path): renamed(text) for path, text in folder[NAME].items()} == folder[OTHER]
    for word in words_of(folders):
        assert NAME.upper() not in word.upper()[1:], word


def test_no_name_makes_a_word_of_another(folders: list[dict[str, Mapping[str, str]]]) -> None:
    """The beginning of a word that ends like a symbol is no legal name: the symbol would be that word."""
    found = words_of(folders)
    symbols = {word.removeprefix(NAME) for word in found if word.startswith(f"{NAME}_")}
    macros = {word.removeprefix(NAME.upper()) for word in found if word.startswith(f"{NAME.upper()}_")}
    fixed = {word for word in found if NAME.upper() not in word.upper()}
    assert min(len(symbols), len(macros), len(fixed)) > 20
    assert symbols.isdisjoint(macros)
    clashes = {
        word.removesuffix(end)
        for ends, upper in ((symbols, False), (macros, True))
        for end in ends
        for word in fixed
        if word.endswith(end) and (word == word.upper() or not upper)
    }
    assert [name for name in clashes if name and (is_legal(name) or is_legal(name.lower()))] == []


def is_legal(name: str) -> bool:
    try:
        check_robot_name(name)
    except EmitError:
        return False
    return True


@pytest.fixture(scope="module")
def host(folders: list[dict[str, Mapping[str, str]]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first of the folders on disk."""
    folder = tmp_path_factory.mktemp("clashes")
    write(folders[0][NAME], folder)
    return folder


def test_no_name_hides_a_header(host: Path) -> None:
    """No generated file has the name of a system header, as `#include <...>` searches the folder first."""
    python = [f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}"]
    sources = [path for path in host.rglob("*.c") if not path.name.endswith(("_v2.c", "_v3.c"))]
    command = ["gcc", "-M", "-march=x86-64-v4", *python, f"-I{host}", *sources]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    reached = {Path(path) for path in re.findall(r"/\S+\.h\b", listed)}
    asked = {
        name
        for path in reached
        for name in re.findall(r"#\s*include(?:_next)?\s*<(\w+)\.h>", path.read_text(errors="replace"))
    }
    asked |= {name for path in sources for name in re.findall(r"#include <(\w+)\.h>", path.read_text())}
    names = {path.stem for path in reached} & asked
    assert {"stdint", "stddef", "features", "emmintrin", "pthread", "Python"} <= names
    assert sorted(filter(is_legal, names)) == []


def test_no_name_is_a_word_of_the_system_in_cpp(host: Path) -> None:
    """The name of a robot is a namespace in C++, and clashes with no name that the C++ header includes."""
    header = (host / f"{NAME}.hpp").read_text()
    includes = "".join(line for line in header.splitlines(keepends=True) if line.startswith("#include <"))
    text = subprocess.run(
        ["g++", "-E", "-dD", "-xc++", "-"], input=includes, text=True, check=True, capture_output=True
    ).stdout
    names = sorted(filter(is_legal, words(text)))
    assert len(names) > 100
    spaces = [f"namespace {name} {{ extern int number; }}\n" for name in names]
    command = ["g++", "-fsyntax-only", "-xc++", "-"]
    done = subprocess.run(
        command, input=includes + "".join(spaces), text=True, check=False, capture_output=True
    )
    assert done.stderr == ""


KINDS = {
    "q": "q",
    "lanes": "lanes",
    "lanes_of": "lanes_of",
    "stream": "stream",
    "binding": "binding",
    "rnea": "rnea",
    "Minv": "Minv",
    "test": "test_robot",
    "stdint": "stdint_robot",
    "Features": "Features_robot",
    "immintrin": "immintrin_robot",
    "size_t": "size_t_robot",
    "NULL": "NULL_robot",
    "sin": "sin_robot",
    "numpy": "numpy_robot",
    "rbdgen_stream": "rbdgen_stream_robot",
    "class": "class_",
    "lambda": "lambda_",
    "linux": "linux_",
    "7dof": "robot_7dof",
    "関節": "robot",
    "x" * 300: "x" * 60,
    "y" * 58 + "intrin": "y" * 58 + "in",
    "z" * 54 + "intrin": "z" * 54 + "_robot",
}
"""Names of robots, and the identifiers that are made from them."""

BUILT = ["q", "stream", "test", "stdint", "class"]
"""The names of robots whose Python packages are built as well."""


def described(name: str, folder: Path) -> Path:
    """The double pendulum under a name."""
    path = folder / "robot.urdf"
    text = (robot_root() / "double_pendulum.urdf").read_text()
    path.write_text(re.sub(r'(<robot [^>]*name=")[^"]*"', rf'\g<1>{name}"', text), encoding="utf-8")
    return path


def test_identifiers_of_any_name() -> None:
    assert {name: check_robot_name(robot_identifier(name)) for name in KINDS} == KINDS


@pytest.mark.parametrize(
    "name", ["q", "lanes", "lanes_of", "rnea", "test", "stdint", "size_t", "NULL", "class", "x" * 300]
)
def test_robots_of_any_name(
    name: str, rnea: tuple[Robot, Options, list[FunctionSource]], tmp_path: Path
) -> None:
    """gcc gives no warning, the self-test passes, and a C++ compiler accepts the header."""
    robot, options, functions = rnea
    sources = emit(Request(robot, replace(options, name=robot_identifier(name))), functions)
    write(sources.files, tmp_path)
    strict = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", f"-I{tmp_path}"]
    program = tmp_path / "selftest.out"
    single = [tmp_path / f"{sources.name}_rnea.c", tmp_path / "selftest" / f"{sources.name}_selftest.c"]
    subprocess.run(["gcc", "-std=c99", *strict, "-O1", *single, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True)
    rest = [*tmp_path.rglob("*_batch*.c"), tmp_path / "_rbdgen" / "binding.c"]
    subprocess.run(["gcc", *strict, "-fsyntax-only", *rest], check=True)
    header = ["-fsyntax-only", "-include", f"{sources.name}.hpp", "-xc++", "/dev/null"]
    subprocess.run(["g++", *strict, *header], check=True)


@pytest.fixture(scope="module")
def rnea() -> tuple[Robot, Options, list[FunctionSource]]:
    robot, options = load_robot(robot_root() / "double_pendulum.urdf"), Options(functions=("rnea",))
    return robot, options, design_functions(Request(robot, options))


def write(files: Mapping[str, str], folder: Path) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x" * 300, r"its name has 300 letters; files and functions are called 'x{60}', name \(--name\)"),
        (
            "test",
            r"is reserved in C or Python; files and functions are called 'test_robot', name \(--name\)",
        ),
        (
            "class",
            r"is reserved in C or Python; files and functions are called 'class_', name \(--name\)",
        ),
        ("7dof arm", None),
        ("q", None),
    ],
)
def test_a_changed_name_is_told(
    name: str, why: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both commands print one line about a changed name, unless the user has chosen the name."""
    urdf = str(described(name, tmp_path))
    generation = [urdf, "-f", "gravity", "--no-compile", "-o", str(tmp_path / "out")]
    for command, told in (
        (["inspect", urdf], why),
        (generation, why),
        ([*generation, "--name", "other"], None),
    ):
        assert main(command) == 0
        said = capsys.readouterr()
        lines = re.findall("^rbdgen: warning: robot .*$", said.out + said.err, re.MULTILINE)
        assert len(lines) == (told is not None)
        assert all(re.search(told or "", line) for line in lines)


@pytest.mark.parametrize("name", BUILT)
def test_packages_of_any_name(name: str, tmp_path: Path) -> None:
    urdf = described(name, tmp_path)
    assert main([str(urdf), "-f", "rnea", "-q", "-o", str(tmp_path / "out")]) == 0
    library = open_library(tmp_path / "out" / KINDS[name])
    expected = [0.57992332, -3.82663611]
    q, v = np.array([0.3, -0.7]), np.array([0.1, 0.2])
    np.testing.assert_allclose(library.rnea(q, v, np.zeros(2)), expected, atol=1e-8)
    batch = library.rnea(np.tile(q, (9, 1)), v, np.zeros(2))
    np.testing.assert_allclose(batch, np.tile(expected, (9, 1)), atol=1e-8)


@pytest.mark.parametrize(
    "name",
    [
        "stdint",
        "STDINT",
        "test",
        "class",
        "sin",
        "size_t",
        "NULL",
        "RBDGEN_STREAM",
        "_q",
        "a b",
        "",
        "x" * 61,
    ],
)
def test_names_that_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf = robot_root() / "double_pendulum.urdf"
    out = tmp_path / "out"
    assert main([str(urdf), f"--name={name}", "--no-compile", "-o", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(r"rbdgen: error: '.*' (cannot name|is not usable as|has 61 letters)", line)
    assert not out.exists()


TEMPLATES = (
    *("c/ROBOT_FUNCTION.c", "c/ROBOT_selftest.c", "c/draws", "c/parts", "project/ROBOT.hpp"),
    *("batch/ROBOT_FUNCTION_batch.c", "batch/ROBOT_batch_selftest.c", "python/binding.c"),
)
"""The templates of C functions in which arguments share a scope with other names."""


def words_of_the_templates() -> set[str]:
    """The words of the templates without composed ones such as `many_{{ argument.name }}`, and `run`, the
    counter of loops."""
    found = {"run"}
    for name in TEMPLATES:
        text = (template_root() / f"{name}.jinja").read_text()
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", text, flags=re.DOTALL)
        text = re.sub(r"\{\{.*?\}\}", "@", text, flags=re.DOTALL)
        text = re.sub(r"^#(.*\\\n)*.*$", " ", text, flags=re.MULTILINE)
        found |= {word for word in words(text) if not re.search(rf"@{word}\b|\b{word}@", text)}
    return found


def is_legal_argument(name: str) -> bool:
    try:
        check_argument_name(name)
    except EmitError:
        return False
    return True


def test_arguments_hide_no_name_of_the_c(tmp_path: Path) -> None:
    """Words of the templates are refused as arguments, or harmless: a function with all others compiles."""
    found = words_of_the_templates()
    assert found >= LOCAL
    legal = sorted(name for name in found if is_legal_argument(name))
    assert len(legal) > 20
    assert "other" not in legal
    assert_sound(adder(legal, ["other"]), tmp_path / "inputs")
    assert_sound(adder(["other"], legal), tmp_path / "outputs")


def adder(inputs: Sequence[str], outputs: Sequence[str]) -> FunctionSource:
    """Returns a function each of whose outputs is the sum of all inputs."""
    nodes = [Node("input", value=float(k)) for k in range(len(inputs))]
    total = 0
    for k in range(1, len(inputs)):
        nodes.append(Node("add", (total, k)))
        total = len(nodes) - 1
    taken = [SizedArgument(name, (1,), "1", "a number") for name in inputs]
    given = [SizedArgument(name, (1,), "1", "the sum") for name in outputs]
    graph = Graph(
        inputs=tuple(Input(name, 1) for name in inputs),
        nodes=tuple(nodes),
        outputs=tuple(Output(name, (1,), (total,)) for name in outputs),
    )
    return function("sum", graph, tuple(taken), tuple(given))


def assert_sound(source: FunctionSource, folder: Path) -> None:
    """Asserts that compilers give no warning, and that both self-tests pass."""
    write(render(facts(), [source]).files, folder)
    command = ["make", "-s", "-C", folder, "CFLAGS=-O0 -Wshadow -Werror", "check", "check-batch"]
    subprocess.run(command, check=True, capture_output=True)
    strict = ["-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", f"-I{folder}"]
    subprocess.run(["gcc", *strict, f"{folder}/_rbdgen/binding.c"], check=True)
    subprocess.run(["g++", *strict, "-include", f"{folder}/toy.hpp", "-xc++", "/dev/null"], check=True)


@pytest.mark.parametrize(
    "name", [*sorted(LOCAL), "sin", "size_t", "many_q", "near_p", "lanes_of_v", "q_step", "q_0"]
)
def test_arguments_that_are_refused(name: str) -> None:
    source = torque()
    first, *more = source.signature.inputs
    with pytest.raises(EmitError, match=f"an argument named '{name}' would hide a name .*; rename it"):
        function("torque", straight(source), (replace(first, name=name), *more), source.signature.outputs)


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: str(row.name))
def test_arguments_of_the_catalogue(row: Function) -> None:
    for argument in (*row.signature.inputs, *row.signature.outputs):
        assert check_argument_name(argument.name) == argument.name
