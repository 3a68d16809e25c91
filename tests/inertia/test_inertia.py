"""`rbdgen.Inertia` agrees with dense 6 x 6 matrices, exactly if numbers are rational, and with Pinocchio."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rationals import Rationals

import rbdgen
from rbdgen.model.inertial_parameters import parameters_of

Array = npt.NDArray[Any]

streams = st.integers(0, 10**6).map(Rationals)
exact = settings(max_examples=25, deadline=None)

BODIES = 300


def skew(v: Array) -> Array:
    x, y, z = np.moveaxis(v, -1, 0)
    o = 0 * x
    return np.stack([np.stack(row, -1) for row in ((o, -z, y), (z, o, -x), (-y, x, o))], -2)


def blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    return np.concatenate([np.concatenate([a, b], -1), np.concatenate([c, d], -1)], -2)


def dense(ten: Array) -> Array:
    """The 6 x 6 inertia matrix of [linear, angular] motions, from its definition."""
    m, h = ten[..., :1, None], skew(ten[..., 1:4])
    J = ten[..., [[4, 5, 7], [5, 6, 8], [7, 8, 9]]]
    return blocks(m * np.eye(3, dtype=int), -h, h, J)


def force_to_parent(R: Array, p: Array) -> Array:
    """The 6 x 6 matrix that takes [force, moment] from a child, placed by R and p, to its parent."""
    return blocks(R, 0 * R, skew(p) @ R, R)


def motion_crossed(v: Array) -> Array:
    """The 6 x 6 matrix v x* for forces [linear, angular]."""
    w, linear = skew(v[..., 3:]), skew(v[..., :3])
    return blocks(w, 0 * w, linear, w)


def transposed(matrix: Array) -> Array:
    return np.swapaxes(matrix, -1, -2)


def fractions(values: Any) -> Array:
    return np.array([list(v) if hasattr(v, "__iter__") else v for v in values], dtype=object)


# ---- exactly


@exact
@given(streams)
def test_frames_are_the_dense_congruence(r: Rationals) -> None:
    ten, child = parameters_of(r.inertia()), parameters_of(r.inertia())
    R, p = fractions(r.rotation()), fractions(r.vector())
    one, other, none = rbdgen.Inertia(ten), rbdgen.Inertia(child), 0 * p
    X = force_to_parent(R, p)
    moved = X @ dense(other.parameters) @ X.T
    assert (other.transformed(R, p).to_matrix() == moved).all()
    assert (one.merged(other, R, p).to_matrix() == dense(one.parameters) + moved).all()
    assert (one.merged(other, R, p).split(other, R, p).parameters == one.parameters).all()
    X = force_to_parent(R, none)
    assert (other.rotated(R).to_matrix() == X @ dense(other.parameters) @ X.T).all()
    X = force_to_parent(fractions(np.eye(3, dtype=int)), p)
    assert (other.translated(p).to_matrix() == X @ dense(other.parameters) @ X.T).all()
    assert (other.translated([1, 2, -3]).translated([-1, -2, 3]).parameters == other.parameters).all()
    assert ((one + other).parameters - other.parameters == one.parameters).all()
    assert ((one - other).parameters + other.parameters == one.parameters).all()


@exact
@given(streams)
def test_motions_are_the_dense_products(r: Rationals) -> None:
    inertia = rbdgen.Inertia(parameters_of(r.inertia()))
    v, a, M = fractions(r.numbers(6)), fractions(r.numbers(6)), dense(inertia.parameters)
    assert (inertia.times(v) == M @ v).all()
    assert inertia.quadratic(v) == v @ M @ v
    assert (inertia.rate(v) == motion_crossed(v) @ M @ v).all()
    assert (inertia.rate(v, a) == M @ a + motion_crossed(v) @ M @ v).all()


@exact
@given(streams)
def test_conversions_there_and_back(r: Rationals) -> None:
    m, c = r.positive(), fractions(r.vector())
    J = fractions(r.inertia().rotational)
    inertia = rbdgen.Inertia.from_center_of_mass(m, c, J)
    assert (inertia.mass, *inertia.first_moment) == (m, *(m * c))
    assert (inertia.rotational == J - m * skew(c) @ skew(c)).all()
    assert (inertia.center == c).all()
    assert (inertia.about_center == J).all()
    assert (inertia.to_ksl() == [m, *(m * c), *np.diag(J), J[0, 1], J[1, 2], J[2, 0]]).all()
    for there, back in (
        (inertia.to_matrix(), rbdgen.Inertia.from_matrix),
        (inertia.to_pseudo_inertia(), rbdgen.Inertia.from_pseudo_inertia),
        (inertia.to_ksl(), rbdgen.Inertia.from_ksl),
    ):
        assert (back(there).parameters == inertia.parameters).all()
    assert all(isinstance(x, (Fraction, int)) for x in rbdgen.Inertia.from_ksl(inertia.to_ksl()).parameters)


@exact
@given(streams)
def test_pseudo_inertia_of_points_is_their_sum(r: Rationals) -> None:
    """The pseudo-inertia [[Sigma, h], [h^T, m]] is the sum of m (r, 1) (r, 1)^T over points."""
    total, inertia = np.zeros((4, 4), dtype=int), rbdgen.Inertia([Fraction(0)] * 10)
    for _ in range(3):
        m, p = r.positive(), r.numbers(3)
        total = total + m * np.outer([*p, 1], [*p, 1])
        inertia = inertia + rbdgen.Inertia.from_center_of_mass(m, p, np.zeros((3, 3), dtype=int))
    assert (inertia.to_pseudo_inertia() == total).all()


# ---- symbols


@pytest.mark.parametrize("engine", ["casadi", "sympy"])
def test_symbols_become_the_numbers(engine: str) -> None:
    generator = np.random.default_rng(3)
    numbers = random_bodies(generator, 1)[0]
    v, p = generator.normal(size=6), generator.normal(size=3)
    (R,) = random_rotations(generator, 1)
    library: Any = pytest.importorskip(engine)
    m = library.SX.sym("m", 10) if engine == "casadi" else library.Matrix(library.symbols("m:10"))
    symbolic = rbdgen.Inertia(m)

    def value(expressions: Any) -> Array:
        flat = np.ravel(np.asarray(expressions, dtype=object)).tolist()
        if engine == "casadi":
            return np.array(library.Function("f", [m], [library.vertcat(*flat)])(numbers.parameters)).ravel()
        point = dict(zip(m, numbers.parameters.tolist(), strict=True))
        return np.array([float(library.sympify(x).subs(point)) for x in flat])

    for ours, expected in (
        (symbolic.transformed(R, p).parameters, numbers.transformed(R, p).parameters),
        (symbolic.merged(numbers, R, p).parameters, numbers.merged(numbers, R, p).parameters),
        (symbolic.times(v), numbers.times(v)),
        (symbolic.quadratic(v), numbers.quadratic(v)),
        (symbolic.rate(v, v), numbers.rate(v, v)),
        (symbolic.to_log_cholesky(), numbers.to_log_cholesky()),
        (symbolic.about_center, numbers.about_center),
        (rbdgen.Inertia.from_log_cholesky(m).parameters, exponential(numbers.parameters)),
    ):
        np.testing.assert_allclose(value(ours), np.ravel(expected), rtol=1e-12, atol=1e-13)
    F = symbolic.factor()
    assert F.rank == 6
    F = value(F.matrix).reshape(6, 6)
    np.testing.assert_allclose(F @ F.T, numbers.to_matrix(), rtol=1e-12, atol=1e-13)
    assert (F[np.triu_indices(6, 1)] == 0).sum() == 15


def exponential(log_cholesky: Array) -> Array:
    return rbdgen.Inertia.from_log_cholesky(log_cholesky).parameters


def test_one_symbol_among_numbers() -> None:
    """The inertia rotated by a symbolic angle is a formula in which zeros of the rotation cost nothing."""
    sympy = pytest.importorskip("sympy")
    angle = sympy.Symbol("q", real=True)
    c, s = sympy.cos(angle), sympy.sin(angle)
    rod = rbdgen.Inertia.from_center_of_mass(3.0, (0.5, 0, 0), np.diag([0, 1.0, 1.0]))
    turned = rod.rotated([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    assert turned.parameters[1:4].tolist() == [1.5 * c, 1.5 * s, 0]
    assert sympy.simplify(turned.parameters[4] - 1.75 * s**2) == 0


# ---- against Pinocchio


def random_rotations(generator: np.random.Generator, count: int) -> Array:
    Q, _ = np.linalg.qr(generator.normal(size=(count, 3, 3)))
    return Q * np.sign(np.linalg.det(Q))[:, None, None]


def random_bodies(generator: np.random.Generator, count: int) -> rbdgen.Inertia:
    """Bodies of 0.1 to 10 kg whose radii of gyration and centres of mass are about 0.3 m."""
    moments = generator.uniform(0.005, 0.1, (count, 3))
    mass, Q = generator.uniform(0.1, 10, count), random_rotations(generator, count)
    sigma = mass[:, None, None] * (Q * moments[:, None]) @ transposed(Q)
    J = np.trace(sigma, axis1=1, axis2=2)[:, None, None] * np.eye(3) - sigma
    J = (J + transposed(J)) / 2
    return rbdgen.Inertia.from_center_of_mass(mass, 0.3 * generator.normal(size=(count, 3)), J)


def test_pinocchio() -> None:
    generator = np.random.default_rng(0)
    bodies, count = random_bodies(generator, 20), 20
    R, p = random_rotations(generator, count), generator.normal(size=(count, 3))
    v, x = generator.normal(size=(count, 6)), 0.5 * generator.normal(size=(count, 10))
    moved, times, rate = bodies.transformed(R, p), bodies.times(v), bodies.rate(v)
    matrix, pseudo, logs = bodies.to_matrix(), bodies.to_pseudo_inertia(), bodies.to_log_cholesky()
    of_logs, (moments, axes) = rbdgen.Inertia.from_log_cholesky(x), bodies.principal()
    for k, c in enumerate(bodies.center):
        theirs = pin.Inertia(float(bodies.mass[k]), c, bodies.about_center[k])
        motion = pin.Motion(v[k])
        placed = theirs.se3Action(pin.SE3(R[k], p[k]))
        parameters = pin.LogCholeskyParameters(x[k])
        for ours, expected in (
            (bodies.parameters[k], theirs.toDynamicParameters()),
            (matrix[k], theirs.matrix()),
            (pseudo[k], theirs.toPseudoInertia().toMatrix()),
            (moved.parameters[k], placed.toDynamicParameters()),
            (times[k], (theirs * motion).vector),
            (rate[k], theirs.vxiv(motion).vector),
            (pin.LogCholeskyParameters(logs[k]).toDynamicParameters(), bodies.parameters[k]),
            (of_logs.parameters[k], parameters.toDynamicParameters()),
            ((axes[k] * moments[k]) @ axes[k].T, theirs.inertia),
        ):
            assert np.abs(ours - expected).max() <= 2e-14 * np.abs(expected).max()


# ---- rounding


@pytest.mark.parametrize(
    ("real", "bound", "bound_of_rate"), [(np.float64, 2e-15, 4e-15), (np.float32, 3e-7, 2e-6)]
)
def test_errors_are_those_of_rounding(real: Any, bound: float, bound_of_rate: float) -> None:
    """Compares 300 random bodies with dense matrices in the largest precision that NumPy has."""
    generator = np.random.default_rng(1)
    one, other = (random_bodies(generator, BODIES).astype(real) for _ in range(2))
    R = random_rotations(generator, BODIES).astype(real)
    p, v = generator.normal(size=(BODIES, 3)).astype(real), generator.normal(size=(BODIES, 6)).astype(real)
    high = np.longdouble if real is np.float64 else np.float64
    M, M_child = (dense(body.parameters.astype(high)) for body in (one, other))
    Rh, ph, vh = R.astype(high), p.astype(high), v.astype(high)[..., None]
    Rh = Rh @ (3 * np.eye(3) - transposed(Rh) @ Rh) / 2  # the orthogonal matrix of which R is a rounding
    X, turn = force_to_parent(Rh, ph), force_to_parent(Rh, 0 * ph)
    shift = force_to_parent(0 * Rh + np.eye(3), ph)
    whole, F = one.merged(other, R, p), one.factor()
    squares = (transposed(vh) @ (M * np.kron(np.eye(2), np.ones((3, 3)))) @ vh)[..., 0]

    def summed(energy: Array) -> Array:
        """The energy with its squares appended, as the mixed term may cancel them."""
        return np.concatenate([energy, squares.astype(real)], -1)

    cases = {
        "rotated": (one.rotated(R).to_matrix(), turn @ M @ transposed(turn)),
        "translated": (one.translated(p).to_matrix(), shift @ M @ transposed(shift)),
        "transformed": (one.transformed(R, p).to_matrix(), X @ M @ transposed(X)),
        "merged": (whole.to_matrix(), M + X @ M_child @ transposed(X)),
        "times": (one.times(v), (M @ vh)[..., 0]),
        "quadratic": (summed(one.quadratic(v)[:, None]), summed((transposed(vh) @ M @ vh)[..., 0])),
        "rate": (one.rate(v), (motion_crossed(vh[..., 0]) @ M @ vh)[..., 0]),
        "factor": (F.matrix.astype(high) @ transposed(F.matrix.astype(high)), M),
        "KSL's": (rbdgen.Inertia.from_ksl(one.to_ksl()).to_matrix(), M),
        "log-Cholesky": (rbdgen.Inertia.from_log_cholesky(one.to_log_cholesky()).to_matrix(), M),
    }
    assert all(ours.dtype == real for name, (ours, _) in cases.items() if name != "factor")
    worst = {name: error(*pair) for name, pair in cases.items()}
    rate = worst.pop("rate")
    assert max(worst.values()) <= bound, worst
    assert rate <= bound_of_rate
    assert (F.rank == 6).all()
    assert one.is_physical().all()


def error(ours: Array, expected: Array) -> float:
    """The largest error of all bodies, each relative to the body's largest entry."""
    axes = tuple(range(1, expected.ndim))
    return float((np.abs(ours - expected).max(axes) / np.abs(expected).max(axes)).max())


def test_a_far_origin_costs_digits() -> None:
    """The errors are those that the docstring states for 100 m."""
    body = random_bodies(np.random.default_rng(2), BODIES)
    J = body.about_center
    lost = {
        real: error(body.astype(real).translated([100, 0, 0]).about_center, J)
        for real in (np.float64, np.float32)
    }
    assert 1e-13 < lost[np.float64] < 1e-9
    assert 1e-4 < lost[np.float32] < 1


# ---- ranks


def rod(off_axis: float) -> rbdgen.Inertia:
    """A thin rod of 2 kg, whose direction is `off_axis` off the x axis."""
    d = np.array([np.sqrt(1 - off_axis**2), off_axis, 0])
    return rbdgen.Inertia.from_center_of_mass(2.0, [0.3, -0.1, 0.2], 0.1 * (np.eye(3) - np.outer(d, d)))


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("off_axis", [0.0, 1e-2, 1e-5, 1e-8, 1e-12])
def test_a_rod_beside_an_axis(off_axis: float, real: Any) -> None:
    body = rod(off_axis).astype(real)
    found = body.factor()
    assert found.rank == 5
    np.testing.assert_allclose(found.matrix @ found.matrix.T, body.to_matrix(), atol=4 * np.finfo(real).eps)
    assert body.is_physical()


def test_ranks_of_many_bodies() -> None:
    point = rbdgen.Inertia.from_center_of_mass(2.0, [0.3, -0.1, 0.2], np.zeros((3, 3)))
    ball = rbdgen.Inertia.from_center_of_mass(1.0, [1.0, 2.0, 3.0], np.eye(3))
    nothing = rbdgen.Inertia(np.zeros(10))
    bodies = rbdgen.Inertia([body.parameters for body in (ball, rod(1e-3), point, nothing)])
    found = bodies.factor()
    assert found.rank.tolist() == [6, 5, 3, 0]
    F = found.matrix
    np.testing.assert_allclose(F @ transposed(F), bodies.to_matrix(), atol=1e-14)
    assert nothing.factor().rank == 0
    assert not nothing.factor().matrix.any()
    assert nothing.is_physical()
    assert (found.L[0] == bodies[0].factor().L).all()


def test_the_rank_has_no_unit() -> None:
    """A mass in kg is not compared with a moment in kg m^2."""
    for scale in (1e-12, 1.0, 1e12):
        tiny = rbdgen.Inertia.from_center_of_mass(1.0, [0, 0, 0], scale * np.eye(3))
        assert tiny.factor().rank == 6
        assert tiny.is_physical()
        assert not rbdgen.Inertia.from_center_of_mass(
            1.0, [0, 0, 0], scale * np.diag([1, 1, 2.1])
        ).is_physical()


# ---- inertias that a body can have


def test_the_distance_is_that_of_the_triangle_inequality() -> None:
    (R,) = random_rotations(np.random.default_rng(4), 1)
    J = np.array([[1, 2, 3.5], [1, 2, 3.0], [2, 2, 2.0]])
    bodies = rbdgen.Inertia.from_center_of_mass([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], J[:, None] * np.eye(3))
    bodies = bodies.transformed(R, [1, -1, 2])
    np.testing.assert_allclose(bodies.excess(), [0.5, 0, -2], atol=1e-14)
    assert bodies.is_physical().tolist() == [False, True, True]
    assert bodies.is_physical(tolerance=0.1).tolist() == [True, True, True]
    moments, axes = bodies.principal()
    np.testing.assert_allclose(moments, J, atol=1e-13)
    np.testing.assert_allclose(np.linalg.det(axes), 1)


def test_any_ten_numbers_are_a_body_in_log_cholesky() -> None:
    x = np.random.default_rng(5).normal(size=(100, 10))
    bodies = rbdgen.Inertia.from_log_cholesky(x)
    assert bodies.is_physical().all()
    np.testing.assert_allclose(bodies.to_log_cholesky(), x, atol=1e-9)


# ---- arrays


def test_in_place_and_broadcast() -> None:
    generator = np.random.default_rng(6)
    bodies, (R,) = random_bodies(generator, 4), random_rotations(generator, 1)
    expected = bodies.rotated(R).parameters
    assert expected.shape == (4, 10)
    memory = bodies.parameters
    result = bodies.rotated(R, out=bodies.parameters)
    assert result.parameters is memory
    assert (memory == expected).all()
    many = bodies.translated(generator.normal(size=(3, 1, 3)))
    assert many.shape == (3, 4)
    assert many[1, 2].shape == ()
    assert (many[1].parameters == many.parameters[1]).all()
    v = generator.normal(size=(4, 6))
    force = bodies.times(v)
    assert bodies.times(v, out=v) is v
    assert (v == force).all()


def test_float32_stays_float32() -> None:
    body = random_bodies(np.random.default_rng(7), 2).astype(np.float32)
    assert body.rotated(np.eye(3)).parameters.dtype == np.float32
    assert body.times([1, 0, 0, 0, 0, 1]).dtype == np.float32
    assert body.principal().axes.dtype == np.float32


def test_one_body_is_computed_as_many_are() -> None:
    generator = np.random.default_rng(8)
    bodies, R = random_bodies(generator, 3), random_rotations(generator, 3)
    together = bodies.rotated(R)
    for k in range(3):
        assert (bodies[k].rotated(R[k]).parameters == together.parameters[k]).all()
