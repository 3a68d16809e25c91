"""Identities of rigid-body dynamics in exact rational arithmetic, with the algorithms' own code.

Nothing is rounded, so that every comparison is an equality: placements have rational rotations, angles are
given by rational cosines and sines, and quaternions have rational components and unit length.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from support.few import few
from support.forms import FORMS, Form, forms_of, over_bodies, parametrize
from support.rationals import Rationals
from support.trees import some

from rbdgen.errors import ModelError
from rbdgen.model.inertia import NO_INERTIA
from rbdgen.model.joints import Angle, Coordinate, Pose
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.ops import IDENTITY, NO_FORCE, ZERO, Force, Vector
from rbdgen.spatial.quaternion import rotation_of
from rbdgen.sweeps.inputs import State

Rows = list[list[Any]]

TREES = some(
    "pendulum",
    "slider",
    "double pendulum",
    "chain",
    "two chains",
    "fork",
    "tree",
    "floating body",
    "floating fork",
    "floating tree",
)

Case = tuple[Model, State]


def draw(parents: tuple[int, ...], kinds: str, seed: int) -> Case:
    """A model and a state of random rationals."""
    r = Rationals(seed)
    model = r.model(parents, kinds)
    n = model.nv
    fext = [Force(r.vector(), r.vector()) for _ in model.bodies]
    return model, State(q=r.coordinates(model), v=r.numbers(n), a=r.numbers(n), tau=r.numbers(n), fext=fext)


@pytest.fixture(scope="module", params=few(["slider", "chain", "two chains", "floating tree"], TREES))
def case(request: pytest.FixtureRequest) -> Case:
    parents, kinds = TREES[request.param]
    return draw(parents, kinds, seed=len(request.param))


def run(form: Form, model: Model, state: State) -> list[list[Any]]:
    """Returns every output as a flat list."""
    return [list(output) for output in form.trace(model, state)]


def vector(form: Form, model: Model, state: State) -> list[Any]:
    (output,) = run(form, model, state)
    return output


def square(form: Form, model: Model, state: State, output: int = 0) -> Rows:
    """Returns an output as rows, one for each degree of freedom."""
    flat = run(form, model, state)[output]
    n = len(flat) // model.nv
    return [flat[k : k + n] for k in range(0, len(flat), n)]


def textbook(function: str) -> Form:
    """The first form of a function, with which other forms are compared."""
    return forms_of(function)[0]


def product(A: Rows, B: Rows) -> Rows:
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A
    ]


def identity(n: int) -> Rows:
    return [[int(i == j) for j in range(n)] for i in range(n)]


def transposed(A: Rows) -> Rows:
    return [list(column) for column in zip(*A, strict=True)]


def difference(a: list[Any], b: list[Any]) -> list[Any]:
    return [x - y for x, y in zip(a, b, strict=True)]


def plain(state: State) -> State:
    """Returns the inputs without external forces, for functions that take none."""
    return replace(state, fext=None)


def given(form: Form, state: State) -> State:
    """Returns the inputs, with external forces only if the function takes them."""
    takes = any(x.kind == "external_forces" for x in form.function.signature.inputs)
    return state if takes else plain(state)


def differentiated(form: Form) -> Form:
    """The textbook form of the function that this form differentiates."""
    assert form.function.derivative_of is not None
    return textbook(form.function.derivative_of)


@parametrize("crba", "minv")
def test_symmetric(form: Form, case: Case) -> None:
    matrix = square(form, *case)
    assert matrix == transposed(matrix)


@parametrize("minv")
def test_inverse(form: Form, case: Case) -> None:
    model, state = case
    Minv = square(form, model, state)
    for crba in forms_of("crba"):
        assert product(square(crba, model, state), Minv) == identity(model.nv)


@parametrize("minv")
def test_all_forms_of_the_inverse_are_equal(form: Form, case: Case) -> None:
    assert run(form, *case) == run(textbook("minv"), *case)


@parametrize("rnea")
def test_forward_dynamics_inverts_inverse_dynamics(form: Form, case: Case) -> None:
    model, state = case[0], plain(case[1])
    for aba in forms_of("aba"):
        a = vector(aba, model, state)
        assert vector(form, model, replace(state, a=a)) == state.tau
        tau = vector(form, model, state)
        assert vector(aba, model, replace(state, tau=tau)) == state.a


@parametrize("rnea_fext")
def test_forward_dynamics_inverts_inverse_dynamics_under_external_forces(form: Form, case: Case) -> None:
    model, state = case
    for aba in forms_of("aba_fext"):
        assert vector(form, model, replace(state, a=vector(aba, model, state))) == state.tau


@parametrize("rnea_fext", "aba_fext", "rnea_fext_derivatives", "aba_fext_derivatives")
def test_no_external_force_is_none(form: Form, case: Case) -> None:
    """Zero forces give the results of the function without forces, except the derivatives by them."""
    model, state = case
    without = textbook(form.function.name.replace("_fext", ""))
    idle = replace(state, fext=[NO_FORCE for _ in model.bodies])
    assert run(form, model, idle)[:3] == run(without, model, plain(state))


@parametrize("nle")
def test_nonlinear_effects_are_inverse_dynamics_without_acceleration(form: Form, case: Case) -> None:
    model, state = case[0], plain(case[1])
    resting = replace(state, a=[0] * model.nv)
    assert vector(form, model, state) == vector(textbook("rnea"), model, resting)


@parametrize("gravity")
def test_gravity_is_what_is_left_at_rest(form: Form, case: Case) -> None:
    model, state = case[0], plain(case[1])
    resting = replace(state, v=[0] * model.nv)
    assert vector(form, model, state) == vector(textbook("nle"), model, resting)


@pytest.mark.parametrize("tree", [name for name, (_, kinds) in TREES.items() if kinds[0] == "F"])
@parametrize("gravity")
def test_the_base_carries_the_weight(form: Form, tree: str) -> None:
    model, state = draw(*TREES[tree], seed=1)
    base = state.q[0]
    assert isinstance(base, Pose)
    weight = model.gravity * sum(body.inertia.mass for body in model.bodies)
    lifting = rotation_of(base.quaternion).T.apply(-weight)
    assert vector(form, model, plain(state))[:3] == list(lifting)


@parametrize("crba")
def test_columns_of_M_are_torques_of_unit_accelerations(form: Form, case: Case) -> None:
    model, state = case[0], plain(case[1])
    gravity = vector(textbook("gravity"), model, state)
    columns = [
        difference(vector(textbook("rnea"), model, replace(state, v=[0] * model.nv, a=unit)), gravity)
        for unit in identity(model.nv)
    ]
    assert square(form, model, state) == transposed(columns)


@parametrize("crba")
def test_kinetic_energy(form: Form, case: Case) -> None:
    """v^T M v is the sum over the bodies of v_i . I_i v_i, and positive."""
    model, state = case
    energy: Any = 0
    motions: list[Any] = []
    for body, q in zip(model.bodies, state.q, strict=True):
        motion = None
        for S, rate in zip(body.joint.motion_subspace, body.joint.slice(state.v), strict=True):
            motion = S * rate if motion is None else motion + S * rate
        assert motion is not None
        if body.parent != WORLD:
            motion = motion + body.transform(q).motion_to_child(motions[body.parent])
        motions.append(motion)
        energy += motion.dot(body.inertia.apply(motion))
    v = [[rate] for rate in state.v]
    assert product(product(transposed(v), square(form, model, state)), v) == [[energy]]
    assert energy > 0


# ---- derivatives


@parametrize("rnea_derivatives", "rnea_fext_derivatives")
def test_derivative_along_the_acceleration_is_M(form: Form, case: Case) -> None:
    model, state = case[0], given(form, case[1])
    assert square(form, model, state, output=2) == square(textbook("crba"), model, state)


@parametrize("rnea_derivatives", "rnea_fext_derivatives")
def test_derivative_along_the_velocity(form: Form, case: Case) -> None:
    """Torques are quadratic in v: central differences of any width are exact."""
    (model, state), torques = (case[0], given(form, case[1])), differentiated(form)
    columns = []
    for unit in identity(model.nv):
        ahead = replace(state, v=[x + e for x, e in zip(state.v, unit, strict=True)])
        behind = replace(state, v=[x - e for x, e in zip(state.v, unit, strict=True)])
        change = difference(vector(torques, model, ahead), vector(torques, model, behind))
        columns.append([x / 2 for x in change])
    assert square(form, model, state, output=1) == transposed(columns)


@parametrize("rnea_fext_derivatives")
def test_derivative_along_external_forces(form: Form, case: Case) -> None:
    """Torques are linear in external forces; a joint only feels the forces on bodies that it carries."""
    (model, state), torques = case, differentiated(form)
    assert state.fext is not None
    columns = []
    for i, own in enumerate(state.fext):
        for unit in (*(Force(ZERO, e) for e in IDENTITY), *(Force(e, ZERO) for e in IDENTITY)):
            pushed = replace(state, fext=[*state.fext[:i], own + unit, *state.fext[i + 1 :]])
            columns.append(difference(vector(torques, model, pushed), vector(torques, model, state)))
    assert square(form, model, state, output=3) == transposed(columns)


@parametrize("rnea_derivatives", "rnea_fext_derivatives")
def test_derivative_along_the_configuration(form: Form, case: Case) -> None:
    """Torques are a trigonometric polynomial of degree 2 in a turn, and quadratic in a slide.

    With D(h) = (f(h) - f(-h)) / 2 = A sin h + B sin 2h the derivative A + 2 B follows from two turns; of a
    quadratic, D(1) is the derivative itself.
    """
    (model, state), torques = (case[0], given(form, case[1])), differentiated(form)
    columns = []
    for body in range(model.nbodies):
        for dof in range(model.bodies[body].joint.nv):
            D = [half_change(torques, model, state, body, dof, step) for step in (HALF, THIRD)]
            if turns(state.q[body], dof):
                columns.append([slope(*pair) for pair in zip(*D, strict=True)])
            else:
                columns.append(D[0])
    assert square(form, model, state) == transposed(columns)


HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
"""tan(h / 4) of the two turns h."""


def turn_of(t: Fraction) -> tuple[Angle, Angle]:
    """Returns the angles h / 2 and h for tan(h / 4) = t."""
    half = Angle((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))
    return half, half + half


def slope(first: Fraction, second: Fraction) -> Fraction:
    """The slope A + 2 B of A sin h + B sin 2h, from the values at the two turns."""
    (s1, d1), (s2, d2) = ((h.sin, (h + h).sin) for _, h in map(turn_of, (HALF, THIRD)))
    determinant = s1 * d2 - s2 * d1
    A = (first * d2 - second * d1) / determinant
    B = (second * s1 - first * s2) / determinant
    return Fraction(A + 2 * B)


def turns(q: Coordinate, dof: int) -> bool:
    return isinstance(q, Angle) or (isinstance(q, Pose) and dof >= 3)


def half_change(form: Form, model: Model, state: State, body: int, dof: int, t: Fraction) -> list[Any]:
    """Computes (tau(h) - tau(-h)) / 2 along one degree of freedom; slides have length 1."""
    torques = []
    for sign in (1, -1):
        q = list(state.q)
        q[body] = displaced(q[body], dof, sign * t, sign)
        torques.append(vector(form, model, replace(state, q=q)))
    return [x / 2 for x in difference(*torques)]


def displaced(q: Coordinate, dof: int, t: Fraction, slide: int) -> Coordinate:
    """Rotates by h or slides along the degree of freedom; a floating base moves in its own axes."""
    half, full = turn_of(t)
    if isinstance(q, Angle):
        return q + full
    if not isinstance(q, Pose):
        return q + slide
    unit = Vector(*(int(k == dof % 3) for k in range(3)))
    if dof < 3:
        return Pose(q.position + rotation_of(q.quaternion).apply(unit) * slide, q.quaternion)
    u, w = Vector(*q.quaternion[:3]), q.quaternion[3]
    turn = unit * half.sin
    imaginary = u * half.cos + turn * w + u.cross(turn)
    return Pose(q.position, (*imaginary, w * half.cos - u.dot(turn)))


@parametrize("aba_derivatives", "aba_fext_derivatives")
def test_derivatives_of_forward_dynamics(form: Form, case: Case) -> None:
    """M da/du = -dtau/du at a = FD(q, v, tau), and da/dtau = M^-1."""
    model, state = case[0], given(form, case[1])
    reached = replace(state, a=vector(differentiated(form), model, state))
    M = square(textbook("crba"), model, state)
    by_state = textbook(form.function.name.replace("aba", "rnea"))
    for output in range(len(form.function.signature.outputs)):
        if output == 2:
            continue
        inverse_dynamics = square(by_state, model, reached, output)
        assert product(M, square(form, model, state, output)) == [
            [-x for x in row] for row in inverse_dynamics
        ]
    assert product(M, square(form, model, state, output=2)) == identity(model.nv)


# ---- special robots


BESIDE_A_BASE = draw((WORLD, 0, WORLD, 2), "FRRP", seed=9)
"""A model of an arm on the world beside a floating robot, which no URDF can describe."""

OVER_BODIES = [form for form in FORMS if over_bodies(form.form)]


@pytest.mark.parametrize("form", [form for form in FORMS if form not in OVER_BODIES], ids=str)
def test_beside_a_floating_base(form: Form) -> None:
    """Textbook forms of derivatives are compared with differences, other forms with textbook forms."""
    model, state = BESIDE_A_BASE
    x = given(form, state)
    assert run(form, model, x) == run(textbook(form.function.name), model, x)
    if form in (textbook("rnea_derivatives"), textbook("rnea_fext_derivatives")):
        test_derivative_along_the_acceleration_is_M(form, BESIDE_A_BASE)
        test_derivative_along_the_velocity(form, BESIDE_A_BASE)
        test_derivative_along_the_configuration(form, BESIDE_A_BASE)
    if form in (textbook("aba_derivatives"), textbook("aba_fext_derivatives")):
        test_derivatives_of_forward_dynamics(form, BESIDE_A_BASE)


@pytest.mark.parametrize("form", OVER_BODIES, ids=str)
def test_loops_beside_a_floating_base(form: Form) -> None:
    with pytest.raises(ModelError, match="joint 'joint2' is attached to the world beside a floating base"):
        run(form, *BESIDE_A_BASE)


@parametrize("minv")
def test_massless_bodies_inside_a_chain(form: Form) -> None:
    """A body may be massless if the bodies that it carries give its joint inertia."""
    model, state = draw((WORLD, 0, 1), "RRR", seed=5)
    first, second, third = model.bodies
    model = replace(model, bodies=(first, replace(second, inertia=NO_INERTIA), third))
    Minv = square(form, model, state)
    assert product(square(textbook("crba"), model, state), Minv) == identity(3)
