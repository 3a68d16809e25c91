"""Functions for PyTorch have the library's bits and its analytical derivatives in both modes; refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.carts import motions

import rbdgen
from rbdgen.errors import ArrayTypeError, ArrayValueError, LoadError
from rbdgen.runtime import Library

FRAMEWORK = "torch"

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of PyTorch itself


@pytest.fixture(scope="module")
def torch() -> Any:
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    return torch


def states(torch: Any, library: Library, *leading: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    arrays = library.random(random, leading), *random.standard_normal((2, *leading, library.manifold.nv))
    q, v, a = map(torch.tensor, arrays)
    return q, v, a


def test_values_are_the_librarys(torch: Any, arm: Library) -> None:
    """Values are those of the library under vmap, with strides and with leading axes that broadcast."""
    f, (q, v, a) = arm.torch.rnea, states(torch, arm, 3, 40)
    np.testing.assert_array_equal(f(q, a=a, v=v), arm.rnea(q, v, a))
    np.testing.assert_array_equal(f(q, v[0], a[0, 0]), arm.rnea(q, v[0], a[0, 0]))
    np.testing.assert_array_equal(f(q[0, 0], v[0, 0], a[0, 0]), arm.rnea(q[0, 0], v[0, 0], a[0, 0]))
    backwards, foreign = v.numpy()[:, ::-1], a.numpy().astype(">f8")
    np.testing.assert_array_equal(f([0.1, 0.2], backwards, foreign), arm.rnea([0.1, 0.2], backwards, foreign))
    mapped = torch.vmap(torch.vmap(f, (0, None, 1)), (1, 0, None))(q, v[0], a[:, 0].T)
    np.testing.assert_array_equal(mapped, arm.rnea(q.swapaxes(0, 1), v[0][:, None], a[:, 0]))


@pytest.mark.parametrize("name", ["arm", "cart"])
def test_derivatives_are_the_analytical_ones(torch: Any, name: str, request: pytest.FixtureRequest) -> None:
    """Both modes are tested under vmap, by the elements of q along possible motions."""
    library: Library = request.getfixturevalue(name)
    f, (q, v, a) = library.torch.rnea, states(torch, library, 5)
    expected = library.rnea_derivatives(q, v, a)
    ways = np.array([motions(library.manifold, one) for one in q.numpy()])
    for mode in (torch.func.jacrev, torch.func.jacfwd):
        dq, dv, da = (x.numpy() for x in torch.vmap(mode(f, (0, 1, 2)))(q, v, a))
        for found, exact in zip((dq @ ways, dv, da), expected, strict=True):
            np.testing.assert_allclose(found, exact, rtol=1e-8, atol=1e-9)


def test_gradcheck(torch: Any, arm: Library) -> None:
    leaves = [x.requires_grad_() for x in states(torch, arm, 3)]
    assert torch.autograd.gradcheck(arm.torch.rnea, leaves, check_forward_ad=True)


def test_compiled(torch: Any, arm: Library) -> None:
    """A rollout and its gradient are one graph each, and the operator passes PyTorch's own checks."""
    f, leaves = arm.torch.rnea, [x.requires_grad_() for x in states(torch, arm)]

    def loss(q: Any, v: Any, a: Any) -> Any:
        for _ in range(2):
            q, v = q + 0.1 * v, v - 0.1 * f(q, v, a)
        return (q * v).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    found, expected = (torch.autograd.grad(g(*leaves), leaves) for g in (compiled, loss))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    from rbdgen.frameworks.in_torch import bridge  # noqa: PLC0415

    (key,) = (key for key, known in bridge()._known.items() if known.identity == arm.rnea.identity)
    torch.library.opcheck(torch.ops.rbdgen.evaluate.default, (leaves, key))


def test_float(torch: Any) -> None:
    library = rbdgen.build(rbdgen.load_robot("double_pendulum"), functions=["rnea", "step"], real="float")
    q, v, a = (x.float() for x in states(torch, library))
    for state, expected in zip(library.torch.step(q, v, a, 0.01), library.step(q, v, a, 0.01), strict=True):
        np.testing.assert_array_equal(state, expected)  # the number 0.01 gets the library's type
    q, v, a = (x.requires_grad_() for x in (q, v, a))
    found = library.torch.rnea(q, v, a)
    np.testing.assert_array_equal(found.detach(), library.rnea(*(x.detach() for x in (q, v, a))))
    found.sum().backward()
    assert (found.dtype, a.grad.dtype) == (torch.float32, torch.float32)
    with pytest.raises(ArrayTypeError, match=r"pass tensor\.float\(\), or build with real='double'$"):
        library.torch.rnea(q, v.double(), a)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, q: f(q[:1], q, q), "rnea: q has shape (1,), expected (..., 2)"),
        (
            lambda f, q: f(q, q.expand(2, 2), q.expand(3, 2)),
            "rnea: leading axes do not broadcast: q (2,), v (2, 2), a (3, 2)",
        ),
        (
            lambda f, q: f(q, q, q.float()),
            "rnea: a is float32, the library is of float64; pass tensor.double(), or build with real='float'",
        ),
        (
            lambda f, q: f(q, q, q.to("meta")),
            "rnea: a is on meta, but the functions run on the CPU; pass tensor.cpu()",
        ),
        (lambda f, q: f(q, q, q.to_sparse()), "rnea: a is sparse; pass tensor.to_dense()"),
        (lambda f, q: f(q, q, "fast"), "rnea: a has dtype <U4; pass real numbers"),
        (
            lambda f, q: f(q, q, [*q.requires_grad_()]),
            "rnea: a is no array of plain numbers on the CPU (Can't call numpy() on Tensor that requires "
            "grad. Use tensor.detach().numpy() instead.); pass one, or take lib.jax.rnea or "
            "lib.torch.rnea",
        ),
        (lambda f, q: f(q, q), "rnea: a is missing; call rnea(q, v, a)"),
    ],
    ids=["shape", "leading", "float32", "device", "sparse", "text", "list", "missing"],
)
def test_refused(torch: Any, arm: Library, call: Callable[[Any, Any], Any], message: str) -> None:
    with pytest.raises((ArrayTypeError, ArrayValueError)) as caught:
        call(arm.torch.rnea, torch.tensor([0.1, 0.2], dtype=torch.float64))
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["arm", "cart"])
def test_hessians(torch: Any, name: str, request: pytest.FixtureRequest) -> None:
    """Hessians in three ways, under vmap, are compared with differences of gradients along possible
    motions."""
    library: Library = request.getfixturevalue(name)
    q, v, _ = states(torch, library, 3)
    func = torch.func

    def loss(q: Any, v: Any) -> Any:
        return torch.sin(library.torch.rnea(q, v, v)).sum()

    found = [[x.numpy() for x in row] for row in torch.vmap(func.hessian(loss, (0, 1)))(q, v)]
    for inner in (func.jacrev, func.jacfwd):
        again = torch.vmap(func.jacrev(inner(loss, (0, 1)), (0, 1)))(q, v)
        for row, other in zip(found, again, strict=True):
            for x, y in zip(row, other, strict=True):
                np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-9 * np.abs(x).max())
    gradient = torch.vmap(func.grad(loss, (0, 1)))
    ways = np.array([motions(library.manifold, one) for one in q.numpy()])
    for k in range(library.manifold.nv):
        step = 1e-6 * np.eye(library.manifold.nv)[k]
        moved = (torch.tensor(library.integrate(q, sign * step)) for sign in (1, -1))
        sides = [gradient(one, v) for one in moved]
        differences = [((x - y) / 2e-6).numpy() for x, y in zip(*sides, strict=True)]
        np.testing.assert_allclose((found[1][0] @ ways)[..., k], differences[1], rtol=1e-5, atol=1e-5)
        along = np.einsum("sij,si->sj", ways, (found[0][0] @ ways)[..., k])
        np.testing.assert_allclose(along, np.einsum("sij,si->sj", ways, differences[0]), rtol=1e-5, atol=1e-5)


def test_gradgradcheck(torch: Any, arm: Library) -> None:
    """Reverse over reverse and forward over reverse, for all inputs and for a single one."""
    leaves = [x.requires_grad_() for x in states(torch, arm, 3)]
    assert torch.autograd.gradgradcheck(arm.torch.rnea, leaves, check_fwd_over_rev=True)
    q, v, a = (x.detach() for x in leaves)
    alone = leaves[2]
    (gradient,) = torch.autograd.grad(arm.torch.rnea(q, v, alone).square().sum(), alone, create_graph=True)
    (twice,) = torch.autograd.grad(gradient.sum(), alone)
    M = arm.rnea_derivatives(q.numpy(), v.numpy(), a.numpy()).dtau_da
    np.testing.assert_allclose(twice, 2 * (M @ M).sum(-1), rtol=1e-12)


def test_what_hessians_are_not(torch: Any, arm: Library, tmp_path: Path) -> None:
    """Forward mode over forward mode and third derivatives are refused, and so is a folder without them."""
    func, (q, *_) = torch.func, states(torch, arm)

    def loss(q: Any) -> Any:
        return arm.torch.rnea(q, q, q).sum()

    with pytest.raises(NotImplementedError, match=r"^lib.torch: there is no torch.func.jacfwd of jacfwd"):
        func.jacfwd(func.jacfwd(loss))(q)
    with pytest.raises(NotImplementedError, match=r"^lib.torch: PyTorch asks for third derivatives"):
        func.jacrev(func.hessian(loss))(q)
    functions = ["rnea", "rnea_vjp", "rnea_jvp"]
    stored = rbdgen.load(rbdgen.generate("double_pendulum", tmp_path, functions=functions, coordinates=True))
    with pytest.raises(
        NotImplementedError, match=r"^lib.torch: no second derivatives: rnea: there is no rne"
    ):
        func.hessian(lambda q: stored.torch.rnea(q, q, q).sum())(q)


def test_hessians_by_parameters(torch: Any) -> None:
    """Torques are linear in a mass, so that the Hessian of their squares is twice that of the slopes."""
    robot = rbdgen.load_robot("double_pendulum")
    library = rbdgen.build(robot, functions=["rnea"], params=["mass:lower"])
    q = states(torch, library)[0]

    def effort(p: Any) -> Any:
        return library.torch.rnea(q, q, q, library.torch.update(p)).square().sum()

    found = torch.func.hessian(effort)(torch.tensor(library.parameters.defaults))
    slope = rbdgen.build(robot, ["rnea_dparams"], params=["mass:lower"]).rnea_dparams(q, q, q)
    np.testing.assert_allclose(found, 2 * slope.T @ slope, rtol=1e-10)


def test_gradients_by_parameters(torch: Any) -> None:
    robot = rbdgen.load_robot("double_pendulum")
    functions = ["rnea", "rnea_vjp", "rnea_jvp"]
    library = rbdgen.build(robot, functions=functions, params=["mass:lower"])
    q = states(torch, library)[0]
    np.testing.assert_array_equal(library.torch.rnea(q, q, q), library.rnea(q, q, q))
    heavy = library.update([2.5])
    for mode in (torch.func.jacrev, torch.func.jacfwd):
        found = mode(lambda q: library.torch.rnea(q, q, q, torch.tensor(heavy)))(q)
        expected = sum(library.rnea_vjp(q, q, q, np.ones(2), heavy))
        np.testing.assert_allclose(found.sum(0), expected, rtol=1e-12)
    p = torch.tensor(2 * library.parameters.defaults, requires_grad=True)
    library.torch.rnea(q, q, q, library.torch.update(p)).sum().backward()
    known = rbdgen.build(robot, ["rnea_dparams"], params=["mass:lower"]).rnea_dparams(q, q, q)
    np.testing.assert_allclose(p.grad, known.sum(0), rtol=1e-12)


def test_without_the_robot(torch: Any, tmp_path: Path) -> None:
    """A folder has values, but only generated derivatives; a library with its robot has all of them."""
    robot, functions = rbdgen.load_robot("double_pendulum"), ["rnea"]
    library = rbdgen.load(rbdgen.generate(robot, tmp_path, functions=functions))
    q = states(torch, library)[0]

    def torques(q: Any) -> Any:
        return library.torch.rnea(q, q, q)

    np.testing.assert_array_equal(torques(q), library.rnea(q, q, q))
    for asks in (torques, lambda q: torch.func.jacfwd(torques)(q.detach())):
        with pytest.raises(
            LoadError, match=r"generate the library with functions=\[\.\.\., 'rnea_vjp', 'rnea_jvp'\]"
        ):
            asks(q.requires_grad_())
    library = rbdgen.build(robot, functions=functions)
    torques(q).sum().backward()
    assert q.grad.shape == (2,)


def test_packed_results(torch: Any) -> None:
    """Packed results only have values, as products with Jacobians need weights of dense matrices."""
    library = rbdgen.build(rbdgen.load_robot("double_pendulum"), functions=["crba"], packed=True)
    q = torch.tensor([0.1, 0.2], dtype=torch.float64)
    np.testing.assert_array_equal(library.torch.crba(q), library.crba(q.numpy()))
    with pytest.raises(LoadError, match=r"^crba: there are no derivatives of M, which is packed; build"):
        library.torch.crba(q.requires_grad_())
