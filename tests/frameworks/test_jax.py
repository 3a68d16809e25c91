"""Functions for JAX have the library's bits and its analytical derivatives in both modes; refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.carts import motions
from support.few import few

import rbdgen
from rbdgen.errors import ArrayTypeError, ArrayValueError, LoadError
from rbdgen.frameworks.functions import More, functions_of
from rbdgen.runtime import Library

FRAMEWORK = "jax"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of JAX itself


@pytest.fixture(scope="module")
def jax() -> Iterator[Any]:
    """JAX in double precision."""
    import jax  # noqa: PLC0415

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def states(library: Library, *leading: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    q = library.random(random, leading)
    return q, *random.standard_normal((2, *leading, library.manifold.nv))


def test_values_are_the_librarys(jax: Any, arm: Library) -> None:
    """Values are those of the library under jit and vmap, with axes that broadcast and several outputs."""
    f, (q, v, a) = arm.jax.rnea, states(arm, 3, 40)
    expected = arm.rnea(q, v, a)
    np.testing.assert_array_equal(f(q, v, a), expected)
    np.testing.assert_array_equal(jax.jit(f)(q, a=a, v=v), expected)
    np.testing.assert_array_equal(f(q, v[0], a[0, 0]), arm.rnea(q, v[0], a[0, 0]))
    np.testing.assert_array_equal(f(q[0, 0], v[0, 0], a[0, 0]), expected[0, 0])
    foreign = a.astype(">f8")
    np.testing.assert_array_equal(f(q, v, foreign), expected)
    mapped = jax.vmap(jax.vmap(f, (0, None, 1)), (1, 0, None))(q, v[0], a[:, 0].T)
    np.testing.assert_array_equal(mapped, arm.rnea(q.swapaxes(0, 1), v[0][:, None], a[:, 0]))


@pytest.mark.parametrize("name", ["arm", "cart"])
def test_derivatives_are_the_analytical_ones(jax: Any, name: str, request: pytest.FixtureRequest) -> None:
    """Both modes are tested under jit and vmap, by the elements of q along possible motions."""
    library: Library = request.getfixturevalue(name)
    f, (q, v, a) = library.jax.rnea, states(library, 5)
    expected = library.rnea_derivatives(q, v, a)
    ways = np.array([motions(library.manifold, one) for one in q])
    for mode in (jax.jacrev, jax.jacfwd):
        dq, dv, da = jax.jit(jax.vmap(mode(f, (0, 1, 2))))(q, v, a)
        for found, exact in zip((dq @ ways, dv, da), expected, strict=True):
            np.testing.assert_allclose(found, exact, rtol=1e-8, atol=1e-9)
    w = np.random.default_rng(1).standard_normal(a.shape)
    gradient = jax.jit(jax.grad(lambda a: (w * f(q, v, a)).sum()))(a)
    np.testing.assert_allclose(gradient, np.einsum("ki,kij->kj", w, expected.dtau_da), rtol=1e-12)


def test_float(jax: Any) -> None:
    library = rbdgen.build(rbdgen.load_robot("double_pendulum"), functions=["rnea", "step"], real="float")
    q, v, a = (x.astype(np.float32) for x in states(library))
    found = library.jax.rnea(q, v, a)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, library.rnea(q, v, a))
    for state, expected in zip(library.jax.step(q, v, a, 0.01), library.step(q, v, a, 0.01), strict=True):
        np.testing.assert_array_equal(state, expected)  # the number 0.01 gets the library's type
    (end, _), _ = jax.lax.scan(lambda x, _: (library.jax.step(*x, a, 0.01), None), (q, v), None, length=3)
    np.testing.assert_allclose(end, library.rollout(q, v, np.tile(a, (3, 1)), 0.01)[0][-1], rtol=1e-6)
    gradient = jax.grad(lambda a: library.jax.rnea(q, v, a).sum())(a)
    assert gradient.dtype == np.float32
    message = (
        "rnea: v is float64, the library is of float32; pass array.astype('float32'), or build with real="
    )
    with pytest.raises(ArrayTypeError, match=message.replace("(", r"\(").replace(")", r"\)")):
        library.jax.rnea(q, v.astype(float), a)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, q: f(q[:1], q, q), "rnea: q has shape (1,), expected (..., 2)"),
        (
            lambda f, q: f(np.zeros((2, 9)), q, q),
            "rnea: q has shape (2, 9), expected (..., 2): states lie along the first axis; pass q.T",
        ),
        (
            lambda f, q: f(q, np.stack([q, q]), np.stack([q, q, q])),
            "rnea: leading axes do not broadcast: q (2,), v (2, 2), a (3, 2)",
        ),
        (
            lambda f, q: f(q, q, q.astype(np.float32)),
            "rnea: a is float32, the library is of float64; call jax.config.update('jax_enable_x64', True) "
            "first, or build with real='float'",
        ),
        (
            lambda f, q: f(q, q.astype(int), q),
            "rnea: v is int64, the library is of float64; pass real numbers as float64",
        ),
        (lambda f, q: f(q, q, "fast"), "rnea: a is no array; pass real numbers"),
        (lambda f, q: f(q, q), "rnea: a is missing; call rnea(q, v, a)"),
    ],
    ids=["shape", "transposed", "leading", "float32", "int", "text", "missing"],
)
def test_refused(jax: Any, arm: Library, call: Callable[[Any, Any], Any], message: str) -> None:
    with pytest.raises((ArrayTypeError, ArrayValueError)) as caught:
        call(jax.jit(arm.jax.rnea) if "int" in message else arm.jax.rnea, np.array([0.1, 0.2]))
    assert str(caught.value) == message


@pytest.mark.parametrize("name", few(["cart"], ["arm", "cart"]))
def test_hessians(jax: Any, name: str, request: pytest.FixtureRequest) -> None:
    """Hessians in three ways, under jit and vmap, are compared with differences of gradients along possible
    motions."""
    library: Library = request.getfixturevalue(name)
    q, v, _ = states(library, 3)

    def loss(q: Any, v: Any) -> Any:
        return jax.numpy.sum(jax.numpy.sin(library.jax.rnea(q, v, v)))

    found = jax.jit(jax.vmap(jax.hessian(loss, (0, 1))))(q, v)
    for inner, outer in ((jax.jacrev, jax.jacrev), (jax.jacfwd, jax.jacrev)):
        again = jax.vmap(outer(inner(loss, (0, 1)), (0, 1)))(q, v)
        for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(again), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * np.abs(x).max())
    gradient = jax.vmap(jax.grad(loss, (0, 1)))
    ways = np.array([motions(library.manifold, one) for one in q])
    for k in range(library.manifold.nv):
        step = 1e-6 * np.eye(library.manifold.nv)[k]
        sides = [gradient(library.integrate(q, sign * step), v) for sign in (1, -1)]
        differences = [(x - y) / 2e-6 for x, y in zip(*sides, strict=True)]
        np.testing.assert_allclose((found[1][0] @ ways)[..., k], differences[1], rtol=1e-5, atol=1e-5)
        along = np.einsum("sij,si->sj", ways, (found[0][0] @ ways)[..., k])
        np.testing.assert_allclose(along, np.einsum("sij,si->sj", ways, differences[0]), rtol=1e-5, atol=1e-5)


CONTACTS = ("contact_aba", "step", "contact_step")


@pytest.fixture(scope="module")
def leaning() -> Library:
    """An arm that touches the ground with its tip, and analytical derivatives to compare with."""
    robot = rbdgen.load_robot(
        "double_pendulum", contacts=[rbdgen.Point("tip", "lower", (0, 0, 0.5))], gravity=(0, 0, -9.81)
    )
    return rbdgen.build(robot, functions=[name + end for name in CONTACTS for end in ("", "_derivatives")])


@pytest.mark.parametrize("name", CONTACTS)
def test_contacts_and_steps(jax: Any, leaning: Library, name: str) -> None:
    """Both modes, under jit and vmap, agree with the analytical derivatives of the library."""
    value, derivatives = leaning.functions[name], leaning.functions[f"{name}_derivatives"]
    random = np.random.default_rng(0)
    inputs = leaning.manifold.random_inputs(value.signature.inputs, random, (4,))
    arrays = [inputs[x.name] for x in value.signature.inputs]
    moving = range(3)  # q, v and tau
    assert [x.kind for x in value.signature.inputs[:3]] == ["configuration", "velocity", "force"]
    blocks = 3 if name == "contact_aba" else 2  # by q, v and tau, or A and B of the step
    expected = np.concatenate(derivatives(*arrays)[:blocks], -1)

    def results(*arrays: Any) -> Any:
        found = getattr(leaning.jax, name)(*arrays)
        count = 1 if name == "contact_aba" else 2
        return jax.numpy.concatenate([*found[:count]], -1)

    for mode in (jax.jacrev, jax.jacfwd):
        found = np.concatenate(jax.jit(jax.vmap(mode(results, moving)))(*arrays), -1)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("name", few(["contact_aba"], ["contact_aba", "step"]))
def test_hessians_of_contacts_and_steps(jax: Any, leaning: Library, name: str) -> None:
    value = leaning.functions[name]
    inputs = leaning.manifold.random_inputs(value.signature.inputs, np.random.default_rng(1), ())
    arrays = [inputs[x.name] for x in value.signature.inputs]

    def loss(*moving: Any) -> Any:
        first = getattr(leaning.jax, name)(*moving, *arrays[3:])[0]
        return jax.numpy.sum(jax.numpy.sin(first))

    found = np.block([[*row] for row in jax.hessian(loss, (0, 1, 2))(*arrays[:3])])
    gradient = jax.grad(loss, (0, 1, 2))
    x = np.concatenate(arrays[:3])
    sides = [
        [np.concatenate(gradient(*np.split(x + sign * step, 3))) for step in 1e-6 * np.eye(6)]
        for sign in (1, -1)
    ]
    differences = (np.array(sides[0]) - np.array(sides[1])) / 2e-6
    np.testing.assert_allclose(found, differences, rtol=1e-5, atol=1e-6 * np.abs(found).max())


def test_hessians_of_a_scan(jax: Any, arm: Library) -> None:
    """The Hessian of two steps in `scan` is that of the same steps without a loop."""

    def step(v: Any, a: Any) -> tuple[Any, Any]:
        return v - 0.1 * arm.jax.rnea(v, v, a), None

    def written(a: Any) -> Any:
        return (step(step(jax.numpy.ones(2), a[0])[0], a[1])[0] ** 2).sum()

    def scanned(a: Any) -> Any:
        return (jax.lax.scan(step, jax.numpy.ones(2), a)[0] ** 2).sum()

    a = np.array([[0.1, 0.2], [0.3, -0.4]])
    found, expected = jax.jit(jax.hessian(scanned))(a), jax.jacrev(jax.grad(written))(a)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


def test_what_hessians_are_not(jax: Any, arm: Library) -> None:
    """Forward mode over forward mode and third derivatives are refused."""
    q = np.array([0.1, 0.2])

    def loss(q: Any) -> Any:
        return arm.jax.rnea(q, q, q).sum()

    for more in (jax.jit(jax.jacfwd(jax.jacfwd(loss))), jax.jacfwd(jax.hessian(loss))):
        with pytest.raises(
            ArrayTypeError, match=r"^rnea: lib.jax has no third derivatives, .* take jax.hessian"
        ):
            more(q)
    gauss = jax.jvp(lambda w: jax.vjp(lambda v: arm.jax.rnea(q, v, q), q)[1](w)[0], (q,), (q,))
    np.testing.assert_allclose(gauss[0], gauss[1])


def test_a_gradient_makes_no_products_in_forward_mode(jax: Any, arm: Library) -> None:
    """A gradient builds no products of forward mode, and forward mode none of reverse mode."""
    (real,), asked = arm._frameworks.args, []  # type: ignore[union-attr]

    def noted(names: Sequence[str]) -> Library:
        asked.extend(names)
        return real.library(names)

    rnea = functions_of(More(noted, real.sources), "jax", arm).rnea
    q = np.array([0.1, 0.2])
    jax.grad(lambda q: rnea(q, q, q).sum())(q)
    assert asked == ["rnea_vjp"]
    jax.jacfwd(rnea)(q, q, q)
    assert asked == ["rnea_vjp", "rnea_jvp"]


def test_a_table_is_where_it_belongs(jax: Any) -> None:
    robot = rbdgen.load_robot("double_pendulum")
    functions = ["rnea", "rnea_vjp", "rnea_jvp"]
    library = rbdgen.build(robot, functions=functions, params=["mass:lower"])
    q = np.array([0.1, 0.2])
    np.testing.assert_array_equal(library.jax.rnea(q, q, q), library.rnea(q, q, q))
    heavy, ones = library.update([2.5]), np.ones(2)
    for mode in (jax.jacrev, jax.jacfwd):
        found = mode(lambda q: library.jax.rnea(q, q, q, heavy))(q)
        np.testing.assert_allclose(ones @ found, sum(library.rnea_vjp(q, q, q, ones, heavy)), rtol=1e-12)


def test_gradients_by_parameters(jax: Any) -> None:
    """Gradients go through the table, in both modes and twice; every state may have its own table."""
    robot = rbdgen.load_robot("double_pendulum")
    library = rbdgen.build(robot, ["aba", "aba_dparams"], params=["mass:lower", "com:lower"])
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    p = 1.2 * library.parameters.defaults

    def accelerations(p: Any) -> Any:
        return library.jax.aba(q, v, tau, library.jax.update(p))

    expected = library.aba_dparams(q, v, tau, p, library.update(p))
    for mode in (jax.jacrev, jax.jacfwd):
        np.testing.assert_allclose(jax.jit(mode(accelerations))(p), expected, rtol=1e-10)
    several = np.stack([p, 1.1 * p])
    rows = jax.vmap(jax.jacrev(accelerations))(several)
    np.testing.assert_allclose(rows[1], jax.jacrev(accelerations)(several[1]), rtol=1e-12)
    tables = library.update(several)
    np.testing.assert_array_equal(library.jax.aba(q, v, tau, tables), library.aba(q, v, tau, tables))
    bent = jax.hessian(lambda p: accelerations(p).sum())(p)
    ends = [
        library.aba_dparams(q, v, tau, x, library.update(x)).sum(0)
        for step in 1e-6 * np.eye(2)
        for x in (p + step, p - step)
    ]
    np.testing.assert_allclose(bent, [(ends[k] - ends[k + 1]) / 2e-6 for k in (0, 2)], rtol=1e-6)


def test_without_the_robot(jax: Any, tmp_path: Path) -> None:
    """A folder has values, and the derivatives that were generated with it."""
    robot, q = rbdgen.load_robot("double_pendulum"), np.array([0.1, 0.2])
    library = rbdgen.load(rbdgen.generate(robot, tmp_path, functions=["rnea", "nle", "nle_vjp", "nle_jvp"]))
    np.testing.assert_array_equal(library.jax.rnea(q, q, q), library.rnea(q, q, q))
    assert jax.grad(lambda q: library.jax.nle(q, q).sum())(q).shape == (2,)
    with pytest.raises(
        LoadError, match=r"generate the library with functions=\[\.\.\., 'rnea_vjp'\], coordinates=True"
    ):
        jax.grad(lambda q: library.jax.rnea(q, q, q).sum())(q)


def test_sines_as_inputs(jax: Any) -> None:
    """Functions of sines and cosines only have values, as products with Jacobians are by q."""
    library = rbdgen.build(rbdgen.load_robot("double_pendulum"), functions=["gravity"], trig="input")
    sines, cosines = np.sin([0.1, 0.2]), np.cos([0.1, 0.2])
    np.testing.assert_array_equal(library.jax.gravity(sines, cosines), library.gravity(sines, cosines))
    with pytest.raises(
        LoadError, match=r"^gravity: there are no derivatives by sines and cosines; leave trig"
    ):
        jax.grad(lambda sines: library.jax.gravity(sines, cosines).sum())(sines)


def test_packed_results(jax: Any) -> None:
    """Packed results only have values, as products with Jacobians need weights of dense matrices."""
    library = rbdgen.build(rbdgen.load_robot("double_pendulum"), functions=["crba"], packed=True)
    q = np.array([0.1, 0.2])
    np.testing.assert_array_equal(library.jax.crba(q), library.crba(q))
    for derivative in (jax.jacrev, jax.jacfwd):
        with pytest.raises(LoadError, match=r"^crba: there are no derivatives of M, which is packed; build"):
            derivative(library.jax.crba)(q)
