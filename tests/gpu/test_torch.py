"""Functions on a GPU in PyTorch's autograd.

PyTorch works on the CPU here, and kernels run on a driver that runs them on the CPU: tensors are copied from
one to the other where, on a GPU, both share the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.driver import StandIn, compiled
from support.pages import text_of as page
from support.tools import need_modules

import rbdgen
from rbdgen.gpu.library import KernelLibrary

FUNCTIONS = ["aba", "aba_vjp", "step", "step_vjp", "minv"]


@pytest.fixture(scope="module")
def torch() -> Any:
    need_modules("torch", packages="torch")
    import torch  # noqa: PLC0415

    return torch


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of kernels in double, and the library of the driver that runs them."""
    need_modules("nvidia", packages="nvidia-cuda-nvrtc")
    place = tmp_path_factory.mktemp("kernels")
    folder = rbdgen.generate("double_pendulum", place, FUNCTIONS, target="cuda", real="double")
    return folder, compiled(folder, place / "driver")


@pytest.fixture
def lib(
    torch: Any, folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[KernelLibrary]:
    from rbdgen.gpu import in_torch  # noqa: PLC0415

    folder, library = folders
    driver = StandIn(library, tmp_path)
    monkeypatch.setenv("RBDGEN_LIBCUDA", str(driver.path))
    found = rbdgen.load(folder)
    assert isinstance(found, KernelLibrary)
    array = in_torch._array

    def copied(given: Any) -> Any:
        kept = array(given)
        return found.to_device(kept.numpy()) if isinstance(kept, torch.Tensor) else kept

    monkeypatch.setattr(in_torch, "_array", copied)
    monkeypatch.setattr(in_torch, "_tensor", lambda made: torch.from_numpy(made.numpy()))
    yield found
    driver.finish()


def drawn(torch: Any, *leading: int, count: int = 3) -> list[Any]:
    random = np.random.default_rng(0)
    return [torch.tensor(random.standard_normal((*leading, 2)), requires_grad=True) for _ in range(count)]


def test_values_and_gradients(torch: Any, lib: KernelLibrary) -> None:
    q, v, tau = drawn(torch, 5)
    a = lib.torch.aba(q, v, tau=tau)
    expected = lib.aba(*(lib.to_device(x.detach().numpy()) for x in (q, v, tau))).numpy()
    np.testing.assert_array_equal(a.detach().numpy(), expected)
    assert torch.autograd.gradcheck(lib.torch.aba, (q, v, tau))
    with torch.no_grad():
        assert not lib.torch.aba(q, v, tau).requires_grad


def test_the_page_differentiates(torch: Any, lib: KernelLibrary) -> None:
    _, line = page("cuda.md").split("```python\n")[4].partition("```")[0].splitlines()
    q, v, tau = drawn(torch, 1000)
    exec(line, {"gpu": lib, "q": q, "v": v, "tau": tau})
    assert tau.grad.shape == (1000, 2)


def test_gradients_of_what_all_states_share_are_sums(torch: Any, lib: KernelLibrary) -> None:
    """A shared velocity, controls that are a view of every second column, and a number."""
    (q,), (v,) = drawn(torch, 4, count=1), drawn(torch, count=1)
    controls = torch.tensor(np.random.default_rng(1).standard_normal((4, 4)), requires_grad=True)

    def stepped(q: Any, v: Any, controls: Any) -> Any:
        return lib.torch.step(q, v, controls[:, ::2], 0.1)

    assert stepped(q, v, controls)._fields == ("q_next", "v_next")
    assert torch.autograd.gradcheck(stepped, (q, v, controls))
    stepped(q, v, controls).v_next.square().sum().backward()
    assert v.grad.shape == (2,)
    assert controls.grad.shape == (4, 4)


def test_several_steps_are_differentiated(torch: Any, lib: KernelLibrary) -> None:
    q, v, tau = drawn(torch, 3)
    state = q, v
    for _ in range(4):
        state = lib.torch.step(*state, tau, 0.05)
    state[0].sum().backward()
    h = 1e-6
    moved = [tau.detach() + sign * h for sign in (1, -1)]
    ends = []
    for own in moved:
        at = q.detach(), v.detach()
        for _ in range(4):
            at = lib.torch.step(*at, own, 0.05)
        ends.append(at[0].sum())
    assert float(tau.grad.sum()) == pytest.approx(float(ends[0] - ends[1]) / (2 * h), rel=1e-7)


def test_what_has_no_gradient_is_refused(torch: Any, lib: KernelLibrary, tmp_path: Path) -> None:
    (q,) = drawn(torch, 3, count=1)
    assert lib.torch.minv(q.detach()).shape == (3, 2, 2)
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^lib.torch.minv: q requires a gradient, .* function minv_vjp; generate"
    ):
        lib.torch.minv(q)
    q, v, tau = drawn(torch, 3)
    total = lib.torch.aba(q, v, tau).sum()
    with pytest.raises(rbdgen.RbdgenError, match=r"^lib.torch.aba: there are no gradients of gradients"):
        torch.autograd.grad(total, q, create_graph=True)
    with pytest.raises(AttributeError, match=r"^lib.torch: no function 'abba' .* did you mean 'aba'\? there"):
        lib.torch.abba  # noqa: B018
    assert dir(lib.torch) == sorted(FUNCTIONS)
    assert repr(lib.torch.aba) == "<aba for PyTorch>"


def test_gradients_in_tangent_spaces_are_refused(torch: Any, lib: KernelLibrary) -> None:
    """Autograd takes gradients by the elements of q, of which quaternions have one more than velocities."""
    from rbdgen.gpu.in_torch import TorchFunction  # noqa: PLC0415

    robot = rbdgen.load_robot("double_pendulum", base="floating")
    on_host = rbdgen.build(robot, ["com", "com_vjp"])
    function = TorchFunction(on_host.com, on_host.com_vjp)  # type: ignore[arg-type]
    with pytest.raises(rbdgen.RbdgenError, match=r"com_vjp has derivatives in the tangent space of q; gen"):
        function(torch.zeros(9, dtype=torch.float64, requires_grad=True))
