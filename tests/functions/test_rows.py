"""A function is only known by its row: no other code of the package compares names of functions."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.forms import FunctionForm, relative_error, run_on_floats
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers
from support.robots import robot
from support.states import random_inputs

from rbdgen.errors import OptionError
from rbdgen.functions.form import LIMB_LOOPS, LIMBS
from rbdgen.functions.function import Function
from rbdgen.functions.resistance import Added, torque
from rbdgen.functions.resisting import resisting
from rbdgen.functions.table import ALL, TABLE, lookup, rows_of
from rbdgen.model.model import Model
from rbdgen.model.tree_size import tree_size
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.resources import package_root

SHAPES = {
    "configuration": ("nq",),
    "velocity": ("nv",),
    "acceleration": ("nv",),
    "force": ("nv",),
    "external_forces": ("nbodies", 6),
    "matrix": ("nv", "nv"),
    "scalar": (),
    "torque_coefficients": ("nv", "ninertial"),
    "by_external_forces": ("nv", "nbodies", 6),
    "energy_coefficients": ("ninertial",),
}

each_row = pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)

SOURCES = [
    path
    for path in sorted(package_root().rglob("*.py"))
    if path.relative_to(package_root()).parts[0] not in ("functions", "sweeps", "formulas")
]
"""Sources outside of families and sweeps; `formulas` has its own table of symbols, such as M for `crba`."""


@each_row
def test_signature(row: Function) -> None:
    """Every argument has the shape of its kind, and no two inputs have one kind."""
    arguments = row.signature.inputs + row.signature.outputs
    for x in arguments:
        if x.kind == "columns":
            assert x.shape[-1] == "nv", x.name
        elif x.kind == "values":
            assert all(isinstance(size, int) for size in x.shape), x.name
        else:
            assert x.shape == SHAPES[x.kind], x.name
    assert len({x.kind for x in row.signature.inputs}) == len(row.signature.inputs)
    assert len({x.name for x in arguments}) == len(arguments)
    assert all(x.unit and x.meaning for x in arguments)


@each_row
def test_identities_are_told_by_the_last_that_takes_part(row: Function) -> None:
    above = list(TABLE)[: list(TABLE).index(row.name) + 1]
    for identity in row.identities:
        assert row.name in identity.functions
        assert set(identity.functions) <= set(above)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@each_row
def test_estimate_and_oracle(row: Function, base: str) -> None:
    """The estimate and the oracle work for every row; other tests check their values."""
    model = robot("double_pendulum", base).model  # type: ignore[arg-type]
    assert row.operations(tree_size(model)) > 0
    outputs = PinocchioOracle(model_of_numbers(model), model)(
        row.name, random_inputs(model, row.signature, 2)
    )
    shapes = [(2, *x.shape) for x in row.signature.sized(model.sizes).outputs]
    assert [output.shape for output in outputs] == shapes


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize(
    "row", [row for row in TABLE.values() if row.derivative_of], ids=lambda row: row.name
)
def test_derivatives_are_those_of_the_function_named(row: Function, base: str) -> None:
    """Central differences of the named function, by every input in order, along the manifold for q."""
    assert row.derivative_of is not None
    model = robot("double_pendulum", base).model  # type: ignore[arg-type]
    function = TABLE[row.derivative_of]
    assert function.signature.inputs == row.signature.inputs
    inputs = random_inputs(model, row.signature, 1)
    ours = run_on_floats(FunctionForm(row, row.forms[0]), model, inputs)
    for argument, matrix in zip(row.signature.inputs, ours, strict=True):
        on_manifold = argument.kind == "configuration"
        count = model.nv if on_manifold else inputs[argument.name].shape[1]
        steps = [central(function, model, inputs, argument.name, on_manifold, k) for k in range(count)]
        assert relative_error(matrix, np.stack(steps, axis=-1).reshape(matrix.shape)) < 1e-6, argument.name


def central(
    function: Function,
    model: Model,
    inputs: Mapping[str, NDArray[np.float64]],
    name: str,
    on_manifold: bool,
    k: int,
) -> NDArray[np.float64]:
    step = np.zeros((1, model.nv if on_manifold else inputs[name].shape[1]))
    step[0, k] = 1e-5
    ends = []
    for sign in (1, -1):
        at = inputs[name]
        moved = model.manifold.integrate(at, sign * step) if on_manifold else at + sign * step
        form = FunctionForm(function, function.forms[0])
        ends += run_on_floats(form, model, {**inputs, name: moved})
    return (ends[0] - ends[1]) / 2e-5


def compared(text: str) -> Iterator[tuple[str, int]]:
    """Yields the string literals in comparisons, subscripts, patterns and keys of dictionaries."""
    for node in ast.walk(ast.parse(text)):
        found: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            found = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            found = list(node.keys)
        elif isinstance(node, ast.Subscript):
            found = [node.slice]
        elif isinstance(node, ast.MatchValue):
            found = [node.value]
        for expression in found:
            for part in ast.walk(expression) if expression is not None else ():
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value, part.lineno


NAMES = frozenset(ALL) | {
    x.name for row in ALL.values() for x in row.signature.inputs + row.signature.outputs
}


def known_by_name(text: str) -> list[tuple[str, int]]:
    # the manifest has fields "gravity", the vector, and "rotation"; "velocity" is a kind of arguments;
    # headers say A for the inertia of rotors, q0 for where springs rest; descriptions have the friction of
    # joints; the manifest names the target for which the C is; the data of pages have the fields "R", "p",
    # "q" and "v", of poses, states and vertices
    others = {"gravity", "rotation", "velocity", "A", "q0", "friction", "target", "R", "p"}
    return [(name, line) for name, line in compared(text) if name in NAMES - others]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(package_root()).as_posix())
def test_nothing_else_knows_them_by_name(path: Path) -> None:
    of_pages = {"q", "v"} if path.is_relative_to(package_root() / "show") else set()
    found = known_by_name(path.read_text(encoding="utf-8"))
    assert [(name, line) for name, line in found if name not in of_pages] == []


@pytest.mark.parametrize(
    "line",
    [
        'if "q" in names: pass',
        'if name == "q": pass',
        'fext = inputs["fext"]',
        'OPERATIONS = {"rnea": 340}',
        'found = {"crba", "minv"} <= present',
        "match name:\n    case 'aba': pass",
    ],
)
def test_a_name_is_seen(line: str) -> None:
    """The test above finds names in each of these lines."""
    assert known_by_name(line)


RESISTANCE = (Added("tau", torque),)

TABLE_MODULE = package_root() / "functions" / "table.py"


def _tuples_of_rows(path: Path) -> set[str]:
    """The names that stand for a tuple of rows in a module: `ROWS`, and its like."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Tuple):
            elements = [x.id for x in value.elts if isinstance(x, ast.Name)]
            if any(name.lower() in ALL for name in elements):
                names.add(target.id)
    return names


def _taken_by_position(tree: ast.AST, tuples: set[str]) -> Iterator[int]:
    """The lines that subscript, unpack, map or iterate over a tuple of rows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in tuples:
                yield node.lineno


def test_rows_are_taken_by_name() -> None:
    """A function that is added to a family, at whatever place, changes no other function: only the table
    reads the tuples of rows."""
    paths = sorted((package_root() / "functions").rglob("*.py"))
    tuples = set().union(*map(_tuples_of_rows, paths))
    assert tuples == {"ROWS"}
    found = [
        f"{path.relative_to(package_root())}:{line}"
        for path in paths
        if path != TABLE_MODULE
        for line in _taken_by_position(ast.parse(path.read_text()), tuples)
    ]
    assert found == []


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_new_function_is_one_file(place: str) -> None:
    """A row that is put anywhere in its family is built in all its forms; nothing else has to change. The
    test runs in a separate process, whose table has the row from the beginning."""
    program = [sys.executable, "-W", "error", "-m", "support.added_function", place]
    path = os.pathsep.join([str(package_root().parent), str(Path(__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["textbook", "one_frame", "looped", LIMBS, LIMB_LOOPS]


def test_what_is_missing_is_told_at_once() -> None:
    """The error for a function with several needs names all that the robot lacks, and nothing else."""
    for base, lacking in (("fixed", "a floating base with joints and contacts"), ("floating", "contacts")):
        model = robot("double_pendulum", base).model  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=f"'contact_rnea' needs {lacking}, which 'double_pendulum'"):
            lookup("contact_rnea", model)


def test_rows_of_a_robot_are_those_whose_needs_it_meets() -> None:
    model = robot("double_pendulum", "floating").model
    of_a_base = ("crba_world", "nle_world", "crba_free_base", "nle_free_base", "rnea_free_base")
    assert set(rows_of(model)) == {*TABLE, "regressor_base", *of_a_base}
    assert all(row.on_request for name, row in ALL.items() if not row.needs and name not in rows_of(model))


def test_forms_in_loops_keep_their_fields() -> None:
    """Resistance changes the results of a form, but not the conditions under which it is tried."""
    for row in ALL.values():
        for form in row.forms:
            changed = replace(
                row, forms=(replace(form, can_use_limbs=True, for_size=True),), resistance=RESISTANCE
            )
            (resisted,) = resisting(changed).forms
            assert (resisted.can_use_limbs, resisted.for_size, resisted.reduced) == (True, True, form.reduced)
            assert (resisted.name, resisted.source, resisted.degrees) == (
                form.name,
                form.source,
                form.degrees,
            )


FORMER_NAMES = {
    ("minv", "vectors"): "columns",
    ("rnea_derivatives", "vectors"): "freedoms",
    ("aba_derivatives", "vectors"): "freedoms",
    ("coriolis", "vectors"): "freedoms",
    ("frame_jacobian_local", "columns"): "by_columns",
    ("contact_jacobian", "columns"): "by_columns",
}


def test_forms_have_their_former_names_too() -> None:
    for (function, former), name in FORMER_NAMES.items():
        assert ALL[function].form(former) is ALL[function].form(name)
        assert ALL[function].form(name).name == name
    for row in ALL.values():
        names = [x for form in row.all_forms for x in (form.name, form.former_name) if x is not None]
        assert len(set(names)) == len(names), row.name


def test_former_names_of_forms_may_be_forced() -> None:
    """The function then states the present name of the form."""
    asked = Options(functions=("minv",), variants={"minv": "vectors"}, engine="graph")
    (found,) = design_functions(Request(robot("double_pendulum"), asked))
    assert found.form == "columns"
