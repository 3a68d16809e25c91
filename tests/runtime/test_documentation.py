"""Functions and libraries show signatures, docstrings and tables, and their attributes cannot be set."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen.functions.table import rows_of
from rbdgen.options import Options
from rbdgen.pipeline.page import build_library
from rbdgen.runtime import Library
from rbdgen.runtime.documentation import call_signature, docstring, example

LOOP = ["lower=world:point"]
"""A loop that holds the elbow of the double pendulum, so that one independent velocity is left."""


@pytest.fixture(scope="module")
def library() -> Library:
    """A library for a floating base with frames and contacts, with functions of all families."""
    robot = rbdgen.load_robot(
        "double_pendulum",
        base="floating",
        frames=["lower", "upper"],
        contacts=[rbdgen.Point("tip", "lower", (0, 0, -1))],
    )
    names = [
        "rnea",
        "contact_aba",
        "frame_jacobian_aligned",
        "step",
        "integrate",
        "kinetic_energy",
        "crba_vjp",
    ]
    return rbdgen.build(robot, names)


def test_the_signature_is_that_of_a_call(library: Library) -> None:
    assert str(inspect.signature(library.rnea)) == "(q, v, a, *, out=None, threads=1)"
    assert str(inspect.signature(library.step)) == "(q, v, tau, dt, *, out=None, threads=1)"
    bound = inspect.signature(library.rnea).bind(1, a=3, v=2)
    assert bound.args == (1, 2, 3)


def test_a_default_is_in_the_signature_and_no_call_needs_it() -> None:
    lib = rbdgen.build(rbdgen.load_robot("double_pendulum"), ["gravity"], params=["mass:lower"])
    parameters = list(inspect.signature(lib.gravity).parameters.values())
    assert [x.name for x in parameters] == ["q", "table", "out", "threads"]
    assert parameters[0].default is inspect.Parameter.empty
    assert parameters[1].default is not inspect.Parameter.empty
    assert list(example(lib.gravity.signature))[-1] == "tau = lib.gravity(q)"


def test_help_shows_arguments_units_axes_and_the_base(library: Library) -> None:
    shown = pydoc.plain(pydoc.render_doc(library.contact_aba))
    for words in (
        "contact_aba(q, v, tau, active=(1.0,), mu=(0.0,), *, out=None, threads=1) -> a, forces\n",
        "Forward dynamics with contacts, and contact forces.",
        "v (8,) [rad/s, m/s]: joint velocities; a floating base first: linear, then angular, in its own",
        "A named tuple:",
        "`lib.joint_names` lists the joints, `lib.frames` lists the frames, `lib.contacts` lists the",
        "q[0:7] and v[0:6] are those of root_joint: q: x y z, quaternion x y z w",
    ):
        assert words in shown
    of_step = library.step.__doc__
    assert of_step is not None
    assert "dt [s]: the time step." in of_step


def test_a_fixed_robot_hears_nothing_of_floating_bases() -> None:
    lib = rbdgen.build(rbdgen.load_robot("double_pendulum"), ["rnea"])
    assert lib.rnea.__doc__ is not None
    assert "floating" not in lib.rnea.__doc__
    assert "q (2,) [rad, m]: joint positions." in lib.rnea.__doc__


def test_examples_run(library: Library) -> None:
    for name, function in library.functions.items():
        document = function.__doc__
        assert document is not None
        code = document.partition("Example:\n")[2].partition("\n\n")[0]
        names: dict[str, Any] = {"lib": library, "np": np}
        exec("\n".join(line.strip() for line in code.splitlines()), names)
        results = [names[x.name] for x in function.signature.outputs]
        assert [np.shape(x) for x in results] == [x.shape for x in function.signature.outputs], name
        assert all(np.isfinite(x).all() for x in results), name


def test_every_row_of_the_table_has_documentation() -> None:
    """The docstring of a row explains every argument, and needs no compiled library."""
    robot = rbdgen.load_robot("double_pendulum", loops=LOOP, frames=["lower"])
    facts = {"summary": "s", "form": "f", "operations": {"total": 1}}
    manifest = {"nq": 2, "joints": [1], "manifold": []}
    rows = [row for row in rows_of(robot.model).values() if not row.by_parameters]
    assert len(rows) > 40
    for row in rows:
        signature = row.sized(robot.model)
        text = docstring(signature, facts, manifest)
        assert text.startswith(f"{signature.name}{call_signature(signature)} -> ")
        for argument in (*signature.inputs, *signature.outputs):
            assert argument.meaning
            assert f"    {argument.name}" in text
        assert text.isascii()


def test_the_operations_on_inertias_have_documentation(tmp_path: Any) -> None:
    library = rbdgen.load(rbdgen.generate_inertia(tmp_path, ["translated", "factored", "split"]))
    for function in library.functions.values():
        names: dict[str, Any] = {"lib": library, "np": np}
        exec("\n".join(example(function.signature)), names)
        assert np.isfinite(
            np.concatenate([np.ravel(names[x.name]) for x in function.signature.outputs])
        ).all()


def test_attributes_of_a_library_cannot_be_set(library: Library) -> None:
    for name in ("nq", "rnea", "anything"):
        with pytest.raises(
            AttributeError, match=f"'{name}' of the library 'double_pendulum' cannot be changed"
        ):
            setattr(library, name, 3)
    with pytest.raises(AttributeError, match="cannot be changed"):
        del library.rnea
    assert library.nq == 9


def test_parameters_that_were_not_asked_for(library: Library) -> None:
    with pytest.raises(AttributeError, match=r"no function 'update' was generated; build with params=\["):
        _ = library.update


def test_base_parameters_are_a_table() -> None:
    robot = rbdgen.load_robot("double_pendulum")
    lib = build_library(robot, Options(functions=("regressor_base",)))
    found = lib.base_parameters
    assert found is not None
    first, *rows = repr(found).splitlines()
    assert first == f"<{len(found.names)} base parameters>"
    assert [row.split()[0] for row in rows] == list(found.names)
    np.testing.assert_allclose([float(row.split()[1]) for row in rows], found.values, rtol=1e-5)
    assert {row.split(maxsplit=2)[2] for row in rows} == {"kg m^2", "kg m"}
    assert found.matrix.shape == (len(found.names), 20)
