"""Cheap forms are equal to textbook ones in rationals and up to rounding in floats, with any saving off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import random_urdf
from support.few import examples, few
from support.forms import relative_error
from support.rational_robots import GRAVITY, choices, planar
from support.rationals import Rationals
from support.robots import robot
from support.trees import some

from rbdgen.description.urdf import parse_urdf
from rbdgen.functions.articulated.step import forward_dynamics
from rbdgen.functions.coriolis.local import CORIOLIS_MATRIX
from rbdgen.functions.coriolis.one_frame import coriolis
from rbdgen.functions.derivatives.by_forces import motions_by_rates, motions_by_rates_local, unit_rates
from rbdgen.functions.derivatives.factored import aba_and_derivatives_factored
from rbdgen.functions.derivatives.forward import aba_and_derivatives
from rbdgen.functions.derivatives.local import rnea_derivatives_local
from rbdgen.functions.derivatives.one_frame import rnea_derivatives
from rbdgen.functions.forward_dynamics.articulated_body import aba
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import minv_factored
from rbdgen.functions.inertia_matrix.inverse_hybrid import minv_composite, minv_hybrid
from rbdgen.functions.inertia_matrix.moments import crba_composite
from rbdgen.functions.inverse_dynamics.classical import rnea_classical
from rbdgen.functions.inverse_dynamics.newton_euler import rnea
from rbdgen.functions.momentum import in_the_world, subtrees
from rbdgen.graph.builder import Builder
from rbdgen.graph.cost import Cost
from rbdgen.graph.expression import Expr
from rbdgen.model.build import build_robot
from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.spatial.ops import NO_FORCE, Force
from rbdgen.sweeps.inputs import State as Inputs
from rbdgen.sweeps.inputs import coordinates, external_forces
from rbdgen.sweeps.straight import straight

TREES = some(
    "pendulum",
    "slider",
    "chain",
    "sliders first",
    "two chains",
    "tree",
    "floating body",
    "floating tree",
    "screws",
    "in a plane",
    "plane on an arm",
    "ball",
    "floating on an arm",
    "all",
)


class State(NamedTuple):
    q: list[Coordinate]
    v: list[Any]
    a: list[Any]
    fext: list[Force]


Result = list[Any]


class Pair(NamedTuple):
    """A cheap form and the textbook form of the same function."""

    cheap: Callable[[ReducedModel, State], Result]
    textbook: Callable[[Model, State], Result]


def flat(*matrices: Any) -> Result:
    return [value for matrix in matrices for row in matrix for value in row]


PAIRS = {
    "rnea": Pair(
        lambda r, x: rnea_classical(r, x.q, x.v, x.a, x.fext), lambda m, x: rnea(m, x.q, x.v, x.a, x.fext)
    ),
    "nonlinear effects": Pair(
        lambda r, x: rnea_classical(r, x.q, x.v, [0] * r.nv), lambda m, x: rnea(m, x.q, x.v, [0] * m.nv)
    ),
    "gravity": Pair(
        lambda r, x: rnea_classical(r, x.q, [0] * r.nv, [0] * r.nv),
        lambda m, x: rnea(m, x.q, [0] * m.nv, [0] * m.nv),
    ),
    "crba": Pair(lambda r, x: flat(crba_composite(r, x.q)), lambda m, x: flat(crba(m, x.q))),
    "aba": Pair(
        lambda r, x: straight(r, Inputs(x.q, x.v, tau=x.a, fext=x.fext)).run(*forward_dynamics(True))["a"],
        lambda m, x: aba(m, x.q, x.v, x.a, x.fext),
    ),
    "minv composite": Pair(
        lambda r, x: flat(minv_composite(r, x.q)), lambda m, x: flat(minv_factored(m, x.q))
    ),
    "minv hybrid": Pair(lambda r, x: flat(minv_hybrid(r, x.q)), lambda m, x: flat(minv_factored(m, x.q))),
    "rnea derivatives": Pair(
        lambda r, x: (
            flat(*(d := rnea_derivatives_local(r, x.q, x.v, x.a, x.fext))[:3])
            + d.tau
            + flat(motions_by_rates_local(r, x.q, unit_rates(r.nv, -1)))
        ),
        lambda m, x: (
            flat(*(d := rnea_derivatives(m, x.q, x.v, x.a, x.fext))[:3])
            + d.tau
            + flat(motions_by_rates(m, x.q, unit_rates(m.nv, -1)))
        ),
    ),
    "aba derivatives": Pair(
        lambda r, x: flat(*aba_and_derivatives_factored(r, Inputs(x.q, x.v, tau=x.a, fext=x.fext))[1]),
        lambda m, x: flat(*aba_and_derivatives(m, x.q, x.v, x.a, x.fext)[1]),
    ),
    "coriolis": Pair(
        lambda r, x: flat(straight(r, Inputs(x.q, x.v)).run(*CORIOLIS_MATRIX)["dtau_dv"]),
        lambda m, x: flat(coriolis(m, x.q, x.v)),
    ),
    "com": Pair(lambda r, x: subtrees.com(r, x.q), lambda m, x: in_the_world.com(m, x.q)),
    "com velocity": Pair(
        lambda r, x: subtrees.com_velocity(r, x.q, x.v), lambda m, x: in_the_world.com_velocity(m, x.q, x.v)
    ),
    "com acceleration": Pair(
        lambda r, x: subtrees.com_acceleration(r, x.q, x.v, x.a),
        lambda m, x: in_the_world.com_acceleration(m, x.q, x.v, x.a),
    ),
    "com jacobian": Pair(
        lambda r, x: flat(subtrees.com_jacobian(r, x.q)), lambda m, x: flat(in_the_world.com_jacobian(m, x.q))
    ),
    "com jacobian carried": Pair(
        lambda r, x: flat(subtrees.com_jacobian(r, x.q, carried=True)),
        lambda m, x: flat(in_the_world.com_jacobian(m, x.q)),
    ),
    "centroidal matrix": Pair(
        lambda r, x: flat(subtrees.centroidal_matrix(r, x.q)),
        lambda m, x: flat(in_the_world.centroidal_matrix(m, x.q)),
    ),
    "centroidal matrix rate": Pair(
        lambda r, x: flat(subtrees.centroidal_matrix_rate(r, x.q, x.v)),
        lambda m, x: flat(in_the_world.centroidal_matrix_rate(m, x.q, x.v)),
    ),
    "centroidal momentum": Pair(
        lambda r, x: subtrees.centroidal_momentum(r, x.q, x.v),
        lambda m, x: in_the_world.centroidal_momentum(m, x.q, x.v),
    ),
}

every_pair = pytest.mark.parametrize("name", PAIRS)


def rational_state(r: Rationals, model: Model) -> State:
    n = model.nv
    fext = [Force(r.vector(), r.vector()) for _ in model.bodies]
    return State(r.coordinates(model), r.numbers(n), r.numbers(n), fext)


SAVINGS: dict[str, Callable[[dict[str, list[Any]]], dict[str, Any]]] = {
    "planar factors only": lambda c: {"base_parameters": False},
    "base parameters": lambda c: {},
    "turned": lambda c: {"turns": c["turns"], "base_parameters": False},
    "slid": lambda c: {"slides": c["slides"], "base_parameters": False},
    "all": lambda c: c,
}


ALL_TOGETHER = [(tree, "all") for tree in TREES]
ALONE = [("floating tree", saving) for saving in SAVINGS]


@pytest.mark.parametrize(("tree", "saving"), few([*ALL_TOGETHER, *ALONE], product(TREES, SAVINGS)))
@every_pair
def test_equal_in_rationals(name: str, tree: str, saving: str) -> None:
    r = Rationals(len(tree))
    model = replace(r.model(*TREES[tree]), gravity=GRAVITY)
    reduced = reduce(model, **SAVINGS[saving](choices(r, model)))
    x = rational_state(r, model)
    assert PAIRS[name].cheap(reduced, x) == PAIRS[name].textbook(model, x)


PARALLEL = {
    "leg": ((WORLD, 0, 1, 2, 2), "FRRRP", (2, 3)),
    "yaw on a base": ((WORLD, 0, 1), "FRR", (1,)),
    "planar arm": ((WORLD, 0, 1, 2), "RRRP", (1, 2)),
    "lift and turn": ((WORLD, 0, 1, 2), "PRRR", (1, 2)),
}


@pytest.mark.parametrize("robot", PARALLEL)
@every_pair
def test_parallel_axes_change_nothing(name: str, robot: str) -> None:
    r, model = planar(*PARALLEL[robot])
    x, frames = rational_state(r, model), choices(r, model)
    expected = PAIRS[name].textbook(model, x)
    parallel = PARALLEL[robot][2]
    for chosen in (parallel, parallel[:1], parallel[1:]):
        assert PAIRS[name].cheap(reduce(model, **frames, parallel=chosen), x) == expected


@every_pair
def test_a_unit_of_length_changes_nothing(name: str) -> None:
    r = Rationals(3)
    model = replace(r.model((WORLD, 0, 1, 0), "RRRR"), gravity=GRAVITY)
    x, frames = rational_state(r, model), choices(r, model)
    reduced = reduce(model, **frames, unit_length=Fraction(3, 8))
    assert PAIRS[name].cheap(reduced, x) == PAIRS[name].textbook(model, x)


# ---- floating point


def float_state(model: Model, rng: np.random.Generator) -> State:
    q = rng.uniform(-3, 3, model.nq)
    if model.is_floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    v, a = rng.standard_normal((2, model.nv)).tolist()
    fext = external_forces(rng.standard_normal(6 * model.nbodies).tolist())
    return State(coordinates(model, q.tolist(), np.cos, np.sin), v, a, fext)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@settings(max_examples=examples(15, 25), deadline=None)
@given(text=random_urdf.robots(), seed=st.integers(0, 2**32 - 1), base_parameters=st.booleans())
def test_random_robots(base: Any, text: str, seed: int, base_parameters: bool) -> None:
    model = build_robot(parse_urdf(text), base=base).model
    rng = np.random.default_rng(seed)
    turns, slides = rng.uniform(-3, 3, model.nbodies).tolist(), rng.uniform(-1, 1, model.nbodies).tolist()
    if model.is_floating:
        turns[0] = slides[0] = 0.0
    reduced = reduce(model, turns, slides, base_parameters=base_parameters)
    x = float_state(model, rng)
    for name, (cheap, textbook) in PAIRS.items():
        ours, theirs = (np.array([result], float) for result in (cheap(reduced, x), textbook(model, x)))
        # A joint that moves little inertia makes M^-1 large, and so the rounding errors of both forms.
        amplification = max(1.0, np.abs(np.array(minv_factored(model, x.q), float)).max() / 1e2)
        assert relative_error(ours, theirs, floor=1e-3) < 1e-11 * amplification, name


# ---- savings


def symbols(model: Model) -> tuple[Builder, State]:
    builder = Builder()
    q = builder.input("q", model.nq)
    v, a = builder.input("v", model.nv), builder.input("a", model.nv)
    return builder, State(coordinates(model, q, Expr.cos, Expr.sin), v, a, [NO_FORCE] * model.nbodies)


def cost(form: Callable[[Any, State], Result], model: Any, source: Model) -> Cost:
    builder, x = symbols(source)
    return builder.cost(form(model, x))


@every_pair
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("which", ["arm7", "quadruped12"])
def test_fewer_operations_than_the_textbook(which: str, base: Any, name: str) -> None:
    """This holds before any choice of frames; base parameters alone never add operations."""
    if name == "minv hybrid" and base == "fixed":
        pytest.skip("a form for long branches")
    model = robot(which, base).model
    cheap, textbook = PAIRS[name]
    with_base_parameters = cost(cheap, reduce(model), model).total
    assert with_base_parameters <= cost(cheap, reduce(model, base_parameters=False), model).total
    assert with_base_parameters < cost(textbook, model, model).total


def test_known_columns_of_a_floating_base_are_not_solved_for() -> None:
    """Attitude and linear velocity only affect the base's own linear acceleration."""
    model = robot("quadruped12", "floating").model
    builder, x = symbols(model)
    _, result = aba_and_derivatives_factored(reduce(model), Inputs(x.q, x.v, tau=x.a))
    for rows, known in ((result.da_dq, 6), (result.da_dv, 3)):
        assert all(rows[row][column] == 0 for row in range(3, model.nv) for column in range(known))
        assert builder.cost([rows[row][column] for row in range(3) for column in range(known)]).total < 40
