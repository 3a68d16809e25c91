"""Models for acados, Crocoddyl, OCS2 and Eigen compute what the library computes, with its derivatives.

The headers of OCS2 and Crocoddyl are those of `headers`, which declare what the models use.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from support.carts import cart_with_a_ball
from support.tools import EIGEN, need, own_lines, ran

import rbdgen
from rbdgen.errors import OptionError

HERE = Path(__file__).parent


class AcadosModel:
    """Holds the expressions of a model, as the class of acados does."""

    p: Any = []  # noqa: RUF012  (as in acados)


@pytest.fixture(scope="module")
def acados(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ModuleType]]:
    """The modules of two robots: an arm that leans on its tip, and a cart whose q is no vector."""
    root = tmp_path_factory.mktemp("acados")
    tip = [rbdgen.Point("tip", "lower", (0, 0, 0.5))]
    robots = {
        "leaning": (rbdgen.load_robot("double_pendulum", contacts=tip), ["contact_aba", "step"]),
        "cart": (rbdgen.load_robot(cart_with_a_ball()), ["aba"]),
    }
    need("make", "gcc", packages="make gcc")
    with pytest.MonkeyPatch.context() as patch:
        stub = ModuleType("acados_template")
        stub.AcadosModel = AcadosModel  # type: ignore[attr-defined]
        patch.setitem(sys.modules, "acados_template", stub)
        found = {}
        for name, (robot, functions) in robots.items():
            options = {"functions": functions, "emit": ["acados"], "name": name}
            folder = rbdgen.generate(robot, root, compiled=False, **options)
            ran("make", "casadi", "CFLAGS=-O0", cwd=folder)
            path = folder / "acados" / f"{name}_acados.py"
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            found[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(found[name])
        yield found


def numbers(module: ModuleType, made: Any, expression: Any, x: Any, u: Any, p: Any = ()) -> Any:
    """The numbers of an expression of a model, and its Jacobian by x and u."""
    import casadi as ca  # noqa: PLC0415

    del module
    inputs = [made.x, made.u, *([made.p] if len(p) else [])]
    slopes = ca.jacobian(expression, ca.vertcat(made.x, made.u))
    function = ca.Function("f", inputs, [expression, slopes])
    value, jacobian = function(x, u, *([p] if len(p) else []))
    return np.array(value).ravel(), np.array(jacobian)


def test_a_discrete_model(acados: dict[str, ModuleType]) -> None:
    """The step with its A and B; the time step is a number of the model."""
    module, random = acados["leaning"], np.random.default_rng(0)
    made = module.model("step", dt=0.02)
    library = rbdgen.build("double_pendulum", functions=["step", "step_derivatives"])
    x, u = random.standard_normal(4), random.standard_normal(2)
    value, slopes = numbers(module, made, made.disc_dyn_expr, x, u)
    np.testing.assert_array_equal(value, np.concatenate(library.step(x[:2], x[2:], u, 0.02)))
    A, B = library.step_derivatives(x[:2], x[2:], u, 0.02)
    np.testing.assert_allclose(slopes, np.hstack([A, B]), rtol=1e-9, atol=1e-12)
    assert (made.name, made.p) == ("leaning_step", [])


def test_a_continuous_model_with_contacts(acados: dict[str, ModuleType]) -> None:
    """The acceleration while a contact is closed, its force, and the parameters of the model."""
    module, random = acados["leaning"], np.random.default_rng(1)
    made = module.model("contact_aba")
    p = module.values("contact_aba", active=[1], mu=1e-6)
    tip = [rbdgen.Point("tip", "lower", (0, 0, 0.5))]
    library = rbdgen.build(rbdgen.load_robot("double_pendulum", contacts=tip), ["contact_aba"])
    x, u = random.standard_normal(4), random.standard_normal(2)
    a, force = library.contact_aba(x[:2], x[2:], u, [1.0], [1e-6])
    value, _ = numbers(module, made, made.f_expl_expr, x, u, p)
    np.testing.assert_array_equal(value, [*x[2:], *a])
    np.testing.assert_array_equal(numbers(module, made, made.further, x, u, p)[0], np.ravel(force))
    made = module.model("contact_aba", dt=0.01)
    value, _ = numbers(module, made, made.disc_dyn_expr, x, u, p)
    v_next = x[2:] + 0.01 * a
    np.testing.assert_allclose(value, [*(x[:2] + 0.01 * v_next), *v_next], rtol=1e-14)


def test_rates_of_quaternions(acados: dict[str, ModuleType]) -> None:
    """dq/dt is the slope of the library's own integration, for planar and spherical joints."""
    module = acados["cart"]
    library = rbdgen.build(rbdgen.load_robot(cart_with_a_ball()), functions=["aba"])
    random = np.random.default_rng(2)
    q, v = library.random(random), random.standard_normal(library.nv)
    made = module.model("aba")
    value, _ = numbers(module, made, made.f_expl_expr, [*q, *v], np.zeros(library.nv))
    rate = (library.integrate(q, 1e-6 * v) - library.integrate(q, -1e-6 * v)) / 2e-6
    np.testing.assert_allclose(value[: library.nq], rate, atol=1e-8)
    np.testing.assert_array_equal(value[library.nq :], library.aba(q, v, np.zeros(library.nv)))
    made = module.model("aba", dt=0.1)
    value, _ = numbers(module, made, made.disc_dyn_expr, [*q, *v], np.zeros(library.nv))
    np.testing.assert_allclose(library.normalize(value[: library.nq]), value[: library.nq], rtol=1e-14)


def test_linked(acados: dict[str, ModuleType]) -> None:
    class Ocp:
        class solver_options:  # noqa: N801  (the name in acados)
            model_external_shared_lib_dir = model_external_shared_lib_name = ""

    module = acados["leaning"]
    module.link(Ocp)
    options = Ocp.solver_options
    assert Path(
        options.model_external_shared_lib_dir, f"lib{options.model_external_shared_lib_name}.so"
    ).is_file()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.model("rnea"), "there is no function 'rnea'; there are: contact_aba, step"),
        (lambda m: m.model("step"), "step is an integration step; give its dt in s, such as dt=0.01"),
        (lambda m: m.model(dt=-1), "dt=-1: give a positive number of seconds"),
        (
            lambda m: m.values("contact_aba", on=1),
            "contact_aba has no further input 'on'; it has: active, mu",
        ),
        (lambda m: m.values("contact_aba", active=[1, 1]), "contact_aba: active has 2 numbers, expected 1"),
    ],
    ids=["unknown", "dt", "negative", "name", "size"],
)
def test_bad_calls(acados: dict[str, ModuleType], call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=r"^") as caught:
        call(acados["leaning"])
    assert str(caught.value) == message


def test_a_users_problem_is_short() -> None:
    """The problem of the page, which acados itself solved by hand, has the lines that the page says."""
    text = (HERE.parents[1] / "docs" / "optimal-control.md").read_text(encoding="utf-8")
    program = text.partition("```python\n")[2].partition("```")[0]
    compile(program, "optimal-control.md", "exec")
    assert f"The whole problem has {own_lines(program)} lines:" in text
    assert own_lines(program) <= 60


def test_models_in_cpp(tmp_path: Path) -> None:
    """The derivatives of both models and of the state agree with differences; matrices are transposed."""
    need("g++", packages="g++")
    options = {"functions": ["aba"], "compiled": False}
    arm = rbdgen.generate("double_pendulum", tmp_path, emit=["crocoddyl", "ocs2"], **options)
    robot = rbdgen.load_robot(cart_with_a_ball())
    cart = rbdgen.generate(robot, tmp_path, emit=["crocoddyl", "eigen"], **options)
    sources = [path for folder in (arm, cart) for path in folder.glob("*.c") if is_plain(path)]
    ran("gcc", "-O1", "-std=c99", "-c", f"-I{arm}", f"-I{cart}", *sources, cwd=tmp_path)
    folders = [arm, arm / "crocoddyl", arm / "ocs2", cart, cart / "crocoddyl", cart / "eigen"]
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
    system = [part for folder in (HERE / "headers", EIGEN) for part in ("-isystem", folder)]
    includes = [f"-I{folder}" for folder in folders]
    program = [HERE / "optimal_control.cpp", *tmp_path.glob("*.o"), "-o", "check", "-lm"]
    ran("g++", "-std=c++17", *warnings, *system, *includes, *program, cwd=tmp_path)
    told = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=True).stdout
    errors = [float(number) for number in told.split()]
    assert len(errors) == 5
    assert max(errors[:4]) < 1e-6
    assert errors[4] == 0


def is_plain(path: Path) -> bool:
    return "batch" not in path.name and "selftest" not in path.name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"emit": ["acados"], "functions": ["rnea"]}, "no function moves the robot; ask for functions="),
        ({"emit": ["acados:fast"]}, "give acados alone, or acados:hessian for second derivatives"),
        ({"emit": ["acados"], "real": "float"}, "CasADi computes in double; leave real='float' out"),
        ({"emit": ["crocoddyl"], "functions": ["step"]}, "no function computes accelerations; ask for"),
        (
            {"emit": ["ocs2"], "target": "cortex-m7"},
            "its models need a computer; leave target='cortex-m7' out",
        ),
        ({"emit": ["crocoddyl"], "packed": True}, "its models take whole matrices; leave packed out"),
        ({"emit": ["eigen:3"]}, "eigen has no further option; give eigen alone"),
    ],
    ids=["nothing", "detail", "float", "continuous", "machine", "packed", "eigen"],
)
def test_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError) as caught:
        rbdgen.generate("double_pendulum", tmp_path, **{"functions": ["aba"], **options})
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_ocs2_adds_steps_to_q(tmp_path: Path) -> None:
    robot = rbdgen.load_robot(cart_with_a_ball())
    with pytest.raises(OptionError, match="OCS2 adds steps to q, which has joints whose v is not dq/dt"):
        rbdgen.generate(robot, tmp_path, functions=["aba"], emit=["ocs2"])
