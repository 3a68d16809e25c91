"""The rules of the sources: the imports between stages, and the length of files."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from rbdgen.resources import package_root

LEAVES = (
    "errors",
    "signature",
    "relative_error",
    "machine",
    "options",
    "access",
    "version",
    "resources",
    "spatial",
    "wording",
)
"""The modules that every stage may import."""

STAGES = (
    ("runtime",),
    ("description",),
    ("model",),
    ("inertia",),
    ("graph",),
    ("sweeps",),
    ("functions",),
    ("formulas",),
    ("selection",),
    ("emit",),
    ("own",),
    ("figures",),
    ("toolchain",),
    ("gpu",),
    ("frameworks",),
    ("learning",),
    ("bounds",),
    ("pipeline",),
    ("symbolic",),
    ("checks",),
    ("prove",),
    ("show",),
    ("cli",),
    ("__main__",),
)
"""The stages in order: a module may import modules of its own row and of those above, but none below."""

FORBIDDEN = {
    "graph": {"description", "model", "inertia", "sweeps", "functions"},
    "sweeps": {"description"},
    "functions": {"description"},
    "runtime": {name for row in STAGES for name in row if name != "runtime"}
    | {"access", "machine", "options", "version", "resources", "spatial"},
}
"""Earlier stages and leaves that a stage must not import: the graph is independent of robots, and a generated
package contains `runtime` with `errors` and `signature` only."""

MOST_LINES = 420

VAGUE = {"utils", "util", "helpers", "helper", "common", "misc"}

ROOT = package_root()

FILES = sorted(ROOT.rglob("*.py"))

RANK = {name: rank for rank, row in enumerate(STAGES) for name in row}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def stage_of(path: Path) -> str:
    """The stage of a file: the first part of its path in the package, a folder or a single module."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(tree: ast.AST, path: Path) -> Iterator[tuple[str, int]]:
    """The stage and line of every import from rbdgen, also inside functions and for type checkers."""
    return ((parts[1], line) for parts, line in imported_names(tree, path))


def imported_names(tree: ast.AST, path: Path) -> Iterator[tuple[list[str], int]]:
    """The parts of every imported name of rbdgen, and the line of the import."""
    package = ("rbdgen", *path.relative_to(ROOT).parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = list(package[: len(package) - node.level + 1]) if node.level else []
            module = above + (node.module.split(".") if node.module else [])
            modules = [[*module, alias.name] for alias in node.names]
        else:
            continue
        for module in modules:
            if module[0] == "rbdgen" and len(module) > 1:
                yield module, node.lineno


def complaint(stage: str, other: str) -> str | None:
    """The message about an import of `other` by `stage`."""
    if other in FORBIDDEN.get(stage, ()):
        return f"{stage} does without {other}"
    if other in LEAVES or other == stage:
        return None
    if stage in LEAVES:
        return f"the leaf {stage} imports {other}"
    return f"{other} comes after {stage}" if RANK[other] > RANK[stage] else None


def backward_edges(text: str, path: Path) -> list[str]:
    stage = stage_of(path)
    found = ((complaint(stage, other), line) for other, line in imported(ast.parse(text), path))
    return [f"{relative(path)}:{line}: {what}" for what, line in found if what]


@pytest.mark.parametrize("path", [p for p in FILES if p != ROOT / "__init__.py"], ids=relative)
def test_data_flows_one_way(path: Path) -> None:
    assert backward_edges(path.read_text(encoding="utf-8"), path) == []


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("graph/node.py", "from rbdgen.model.model import Model"),
        ("graph/passes/fold.py", "from ...emit import render"),
        ("model/build.py", "def f():\n    from rbdgen.pipeline import page"),
        ("runtime/function.py", "from ..options import Options"),
        ("runtime/library.py", "import rbdgen.toolchain.cache"),
        ("spatial/ops.py", "from rbdgen.model.model import Body"),
        ("emit/c/printer.py", "if TYPE_CHECKING:\n    from rbdgen.toolchain.compiler import Compiler"),
    ],
)
def test_a_backward_edge_is_seen(place: str, line: str) -> None:
    """The test above finds wrong imports, also relative, lazy and conditional ones."""
    assert len(backward_edges(line, ROOT / place)) == 1


@pytest.mark.parametrize("path", sorted((ROOT / "emit").glob("*/*.py")), ids=relative)
def test_a_backend_does_without_the_others(path: Path) -> None:
    """Back ends do not import each other, except that batches, bounds, build files, kernels and JavaScript
    are made from the C."""
    own = path.parent.name
    others = {folder.name for folder in (ROOT / "emit").iterdir() if folder.is_dir()} - {own, "selftest"}
    if own in ("batch", "bounds", "cuda", "javascript", "project"):
        others.remove("c")
    text = path.read_text(encoding="utf-8")
    assert not [other for other in others if f"rbdgen.emit.{other}." in text]


def families(texts: Mapping[Path, str]) -> dict[str, set[str]]:
    """The other families from which the files of every family of functions import."""
    found: dict[str, set[str]] = {}
    for path, text in texts.items():
        own = path.relative_to(ROOT / "functions").parts[0]
        modules = (
            node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)
        )
        others = {module.split(".")[2] for module in modules if module.startswith("rbdgen.functions.")}
        found.setdefault(own, set()).update(others - {own})
    return found


def test_families_of_functions_do_not_import_each_other() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "functions").glob("*/*.py")}
    TopologicalSorter(families(texts)).prepare()
    back = ROOT / "functions" / "inverse_dynamics" / "back.py"
    texts[back] = "from rbdgen.functions.forward_dynamics.rows import ABA"
    with pytest.raises(CycleError):
        TopologicalSorter(families(texts)).prepare()


@cache
def names_in(text: str, path: Path) -> list[tuple[list[str], int]]:
    """The imported names of rbdgen in a text, which is read once."""
    return list(imported_names(ast.parse(text), path))


def imports_between(texts: Mapping[Path, str]) -> dict[Path, set[Path]]:
    """The files that every file imports, without `rbdgen/__init__.py`, which imports all others."""
    found: dict[Path, set[Path]] = {}
    for path, text in texts.items():
        own = found.setdefault(path, set())
        for parts, _ in names_in(text, path):
            place = ROOT.joinpath(*parts[1:])
            candidates = (place.with_suffix(".py"), place / "__init__.py", place.parent.with_suffix(".py"))
            imported_file = next((file for file in candidates if file in texts), path)
            own.update({imported_file} - {path})
    return found


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    """Imports inside functions and those for type checkers count, too."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES if path != ROOT / "__init__.py"}
    TopologicalSorter(imports_between(texts)).prepare()
    for line in (
        "from rbdgen.graph.builder import Builder",
        "if TYPE_CHECKING:\n    from rbdgen.graph import builder",
        "def f():\n    import rbdgen.graph.builder",
    ):
        lower = ROOT / "graph" / "lower.py"
        with pytest.raises(CycleError):
            TopologicalSorter(imports_between({**texts, lower: f"{texts[lower]}\n{line}"})).prepare()


def test_every_module_has_its_place() -> None:
    places = {stage_of(path) for path in FILES} - {"__init__"}
    assert places == set(LEAVES) | set(RANK)


def test_importing_the_package_is_quick() -> None:
    """Engines, templates and compilation, which are slow to import, are imported on first use."""
    program = "import rbdgen, sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"casadi", "sympy", "cffi", "jinja2", "lxml", "rich", "trimesh", "fast_simplification"} & set(
        done.stdout.split()
    )


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_files_are_short_and_named_for_what_they_hold(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert not VAGUE & set(path.relative_to(ROOT).with_suffix("").parts)


TESTS = sorted(Path(__file__).parent.rglob("*.py"))


def modules_of_tests(text: str) -> list[str]:
    """The modules of tests that a text imports."""
    modules = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules += [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return [name for name in modules if any(part.startswith("test_") for part in name.split("."))]


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.relative_to(Path(__file__).parent).as_posix())
def test_no_test_imports_another(path: Path) -> None:
    """Code that tests share is in tests/support."""
    assert modules_of_tests(path.read_text(encoding="utf-8")) == []


def test_an_import_of_a_test_is_seen() -> None:
    """The test above finds such an import."""
    assert modules_of_tests("from functions.test_rows import SHAPES")
    assert modules_of_tests("from functions import test_rows")
    assert modules_of_tests("def f():\n    import functions.test_rows")
