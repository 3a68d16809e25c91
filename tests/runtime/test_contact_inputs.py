"""Arguments that calls of functions of contacts may leave out, and the anchors of pulled contacts."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.runtime import Library

Array = np.ndarray[Any, Any]
FUNCTIONS = ["contact_pose", "contact_aba", "contact_aba_held", "contact_impulse", "contact_aba_vjp"]


@pytest.fixture(scope="module")
def lib() -> Library:
    """A floating double pendulum with a point, a frame, and a set of contacts that only has the point."""
    robot = rbdgen.load_robot(
        "double_pendulum",
        base="floating",
        contacts=[rbdgen.Frame("mid", "upper"), rbdgen.Point("tip", "lower", (0, 0, -1))],
        contact_sets={"end": ["tip"]},
    )
    return rbdgen.build(robot, [*FUNCTIONS, "contact_aba_held_end"], params=["mass:lower"])


@pytest.fixture
def state(lib: Library) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    return lib.random(rng, (3,)), rng.standard_normal((3, lib.nv)), rng.standard_normal((3, lib.nv))


def same(results: Any, expected: Any) -> None:
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, right)


def test_all_contacts_hold_without_compliance_by_default(
    lib: Library, state: tuple[Array, Array, Array]
) -> None:
    on, mu = np.ones(2), np.zeros(1)
    same(lib.contact_aba(*state), lib.contact_aba(*state, on, mu))
    same(lib.contact_aba(*state, mu=[0.1]), lib.contact_aba(*state, on, [0.1]))
    same(lib.contact_aba(*state, active=[1, 0]), lib.contact_aba(*state, [1, 0], mu))
    same(lib.contact_impulse(*state[:2]), lib.contact_impulse(*state[:2], [0.0], on, mu))
    seeds = {"a_bar": state[1], "forces_bar": np.ones(9)}
    same(lib.contact_aba_vjp(*state, **seeds), lib.contact_aba_vjp(*state, on, mu, *seeds.values()))


def test_the_table_is_left_out_or_given_beside_them(lib: Library, state: tuple[Array, Array, Array]) -> None:
    table = lib.update({"mass:lower": 3.0})
    heavy = lib.contact_aba(*state, table=table)
    same(heavy, lib.contact_aba(*state, np.ones(2), np.zeros(1), table))
    assert not np.array_equal(heavy.a, lib.contact_aba(*state).a)


def test_bound_calls_leave_them_out_too(lib: Library, state: tuple[Array, Array, Array]) -> None:
    same(lib.contact_aba.bind(*state)(), lib.contact_aba(*state))
    one = [x[0].copy() for x in state]
    same(lib.contact_aba.bind(*one, mu=np.array([0.2]))(), lib.contact_aba(*one, mu=[0.2]))


def test_signatures_show_them(lib: Library) -> None:
    shown = str(inspect.signature(lib.contact_aba))
    assert shown.startswith("(q, v, tau, active=(1.0, 1.0), mu=(0.0,), table=")
    held = inspect.signature(lib.contact_aba_held)
    assert list(held.parameters)[:7] == ["q", "v", "tau", "active", "mu", "gains", "anchor"]
    assert held.parameters["anchor"].default is inspect.Parameter.empty
    assert "lib.contact_aba_held(q, v, tau, gains=gains, anchor=anchor)" in (
        lib.contact_aba_held.__doc__ or ""
    )


def test_what_has_no_default_is_missed_by_name(lib: Library, state: tuple[Array, Array, Array]) -> None:
    with pytest.raises(ArrayTypeError, match=r"^contact_aba_held: gains is missing; call contact_aba_held\("):
        lib.contact_aba_held(*state)
    with pytest.raises(ArrayTypeError, match=r"^contact_aba: tau is missing; call"):
        lib.contact_aba(*state[:2], active=[1, 1])


def test_anchors_are_poses_in_a_row(lib: Library, state: tuple[Array, Array, Array]) -> None:
    q, v, tau = state
    position, rotation = lib.contact_pose(q)
    anchor = lib.anchor(q)
    np.testing.assert_array_equal(anchor[:, :3], position[:, 0])
    np.testing.assert_array_equal(anchor[:, 3:12], rotation[:, 0].reshape(3, 9))
    np.testing.assert_array_equal(anchor[:, 12:], position[:, 1])
    assert anchor.shape == (3, 15)
    assert lib.anchor(q[0].tolist()).shape == (15,)
    pulled = {"mu": [1e-3], "gains": [100.0, 0.0]}
    still = lib.contact_aba_held(q, v, tau, anchor=anchor, **pulled)  # no force pulls a contact at its anchor
    free = lib.contact_aba(q, v, tau, mu=[1e-3])
    np.testing.assert_allclose(still.a, free.a, rtol=1e-9, atol=1e-9)
    away = lib.contact_aba_held(q, v, tau, anchor=lib.anchor(lib.random(1)), **pulled)
    assert np.abs(away.a - free.a).max() > 1


def test_anchors_of_a_set(lib: Library, state: tuple[Array, Array, Array]) -> None:
    q, v, tau = state
    anchor = lib.anchor(q, "end")
    np.testing.assert_array_equal(anchor, lib.contact_pose(q).position[:, 1])
    lib.contact_aba_held_end(q, v, tau, gains=[1, 1], anchor=anchor)
    with pytest.raises(
        ArrayValueError, match=r"^anchor: there is no set of contacts 'ends'; there are: end$"
    ):
        lib.anchor(q, "ends")


def test_anchors_of_what_does_not_fit(lib: Library) -> None:
    with pytest.raises(ArrayValueError, match=r"^contact_pose: q has shape \(3,\), expected \(\.\.\., 9\)$"):
        lib.anchor([0.0, 0.0, 0.0])
    without = rbdgen.build(rbdgen.load_robot("double_pendulum"), ["gravity"])
    with pytest.raises(ArrayTypeError, match=r"^anchor: it is made by contact_pose, which was not generated"):
        without.anchor(without.neutral())
    with pytest.raises(ArrayValueError, match=r"there is no set of contacts 'x'; there are: none$"):
        without.anchor(without.neutral(), "x")


def test_stubs_of_packages_are_python(lib: Library) -> None:
    text = (lib.folder / "__init__.pyi").read_text()
    ast.parse(text)
    assert "tau: ArrayLike, active: ArrayLike = ..., mu: ArrayLike = ..., gains: ArrayLike = ...," in text
