"""The two drivers run the same sweeps, as straight lines and as loops, with exactly equal results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from support.rationals import Rationals
from support.trees import some

from rbdgen.errors import GraphError
from rbdgen.functions.articulated.step import forward_dynamics
from rbdgen.functions.derivatives.one_frame import OUTPUTS, derivatives
from rbdgen.functions.form import swept
from rbdgen.functions.inertia_matrix.moments import INERTIA_MATRIX
from rbdgen.functions.inverse_dynamics.classical import inverse_dynamics
from rbdgen.model.model import WORLD
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import reduce
from rbdgen.spatial.ops import Force, Vector
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.bodies import force_to_parent
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.looped import looped
from rbdgen.sweeps.straight import straight
from rbdgen.sweeps.sweep import Inward, Outward, Sum, Sweep

TREES = some("pendulum", "two chains", "tree of turns", "tree", "floating tree")

COMPOSITES, CLIMB = INERTIA_MATRIX

WEIGHTED = (
    replace(
        COMPOSITES,
        step=lambda body, x: {**COMPOSITES.step(body, x), "weight": Vector(x.composite.mass, 0, 0)},
        gives={**COMPOSITES.gives, "weight": Vector},
    ),
    replace(
        CLIMB,
        carry=lambda body, force, x: force_to_parent(body, force) * x.weight.x,
        carry_reads=("weight",),
    ),
)
"""A climb to the ancestors that reads a value of the body that the force leaves, its subtree's mass."""

SWEEPS: dict[str, tuple[Sequence[str], Sequence[Sweep]]] = {
    "inverse dynamics": (("tau",), inverse_dynamics(external=True)),
    "at rest": (("tau",), inverse_dynamics(moving=False, accelerated=False)),
    "forward dynamics": (("a",), forward_dynamics(external=True)),
    "inertia matrix": (("M",), INERTIA_MATRIX),
    "weighted climb": (("M",), WEIGHTED),
    "derivatives": (OUTPUTS, derivatives()),
    "derivatives but M": (OUTPUTS[:2], derivatives(OUTPUTS[:2])),
}


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("tree", TREES)
def test_loops_give_what_the_straight_line_gives(tree: str, name: str) -> None:
    r = Rationals(len(tree))
    model = replace(r.model(*TREES[tree]), gravity=Vector(1, Fraction(1, 2), -9))
    q, n = r.coordinates(model), model.nv
    fext = [Force(r.vector(), r.vector()) for _ in model.bodies]
    x = State(q, r.numbers(n), r.numbers(n), r.numbers(n), fext)
    outputs, sweeps = SWEEPS[name]
    line = swept("in one line", "", outputs, sweeps).trace(reduce(model), x)
    assert looped(reduce(model), outputs, *sweeps).run(x) == line


def test_a_sum_starts_with_what_a_body_has() -> None:
    """A sum that starts with each body's own value gives the mass that every joint of a tree carries."""
    model = Rationals(3).model((WORLD, 0, 1, 0), "RRPR")
    weigh = Inward(
        "weigh",
        {"carried": Sum(MassMoments, lambda body: body.moments)},
        lambda _, x: {"carried": x.carried, "tau": [x.carried.mass]},
        reads=("placement", "moments"),
        gives={"tau": Scalar},
    )
    x = State(Rationals(4).coordinates(model))
    masses = [moments.mass for moments in reduce(model).moments]
    expected = [sum(masses), masses[1] + masses[2], masses[2], masses[3]]
    assert straight(reduce(model), x).run(weigh)["tau"] == expected
    assert looped(reduce(model), ("tau",), weigh).run(x) == [expected]


def test_loops_refuse_to_read_a_sum_that_they_do_not_store() -> None:
    """`composite` starts with the body's own value and is not stored; `weight` is the same sum and is."""
    model = reduce(Rationals(3).model((WORLD, 0, 1, 0), "RRPR"))
    reading = replace(CLIMB, reads=("composite",))
    with pytest.raises(GraphError) as caught:
        looped(model, ("M",), COMPOSITES, reading)
    assert str(caught.value) == (
        "sweep 'ancestors' reads 'composite', a sum with a start of its own, which loops do not store; "
        "let the sweep that sums it give it by another name"
    )
    looped(model, ("M",), WEIGHTED[0], replace(CLIMB, reads=("weight",)))
    looped(model, ("M",), COMPOSITES, *INERTIA_MATRIX)


@pytest.mark.parametrize("tree", TREES)
def test_a_total_starts_with_what_the_world_adds(tree: str) -> None:
    """A total that starts with 100 is the mass of the robot plus 100."""
    model = Rationals(3).model(*TREES[tree])
    weigh = Outward(
        "weigh",
        "upward",
        lambda body, x: {"upward": x.parent, "mass": body.moments.mass},
        world=lambda x: x.upward,
        reads=("placement", "moments"),
        gives={"upward": Vector},
        totals={"mass": lambda _: 100},
    )
    x = State(Rationals(4).coordinates(model))
    expected = [100 + sum(moments.mass for moments in reduce(model).moments)]
    assert straight(reduce(model), x).run(weigh)["mass"] == expected
    assert looped(reduce(model), ("mass",), weigh).run(x) == [expected]
