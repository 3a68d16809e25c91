"""Compiled functions of a user's own give the values of their texts on floats. They have batches, derivatives
and all else that the functions of the table have.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.folders import selftest_sources
from support.own import ARM, QUADRUPED, drawn, reach, rk4, running, terms

import rbdgen
from rbdgen.model.build import Robot
from rbdgen.own.text import OwnFunction
from rbdgen.runtime import Library

NAMES = [reach, rk4, "reach_vjp", "reach_jvp", "rnea"]


@pytest.fixture(scope="module")
def arm() -> Library:
    return rbdgen.build(ARM, functions=NAMES)


def test_values_are_those_of_the_text(arm: Library) -> None:
    for function in (reach, rk4):
        given = drawn(arm, function.name)
        found, expected = getattr(arm, function.name)(*given), function(ARM, *given)
        for x, y in zip(np.atleast_2d(found), np.atleast_2d(expected), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11)


def test_batches_have_the_bits_of_single_calls(arm: Library) -> None:
    given = drawn(arm, "reach", (37,))
    together = arm.reach(*given)
    for k in range(37):
        assert together[k].tobytes() == arm.reach(*(x[k] for x in given)).tobytes()
    out = np.empty((37, 7))
    assert arm.reach(*given, out=out) is out
    assert out.tobytes() == together.tobytes()


def test_a_bound_call_has_the_same_bits(arm: Library) -> None:
    given = drawn(arm, "reach")
    out = np.empty(7)
    arm.reach.bind(*given, out=out)()
    assert out.tobytes() == arm.reach(*given).tobytes()


def test_derivatives_are_transposed_and_those_of_differences(arm: Library) -> None:
    q, v, target, gains, *rates = drawn(arm, "reach_jvp")
    weights = np.random.default_rng(5).normal(size=7)
    along = arm.reach_jvp(q, v, target, gains, *rates)
    back = arm.reach_vjp(q, v, target, gains, weights)
    assert weights @ along == pytest.approx(sum(x @ y for x, y in zip(back, rates, strict=True)), rel=1e-9)
    h = 1e-6
    ends = [
        arm.reach(*(x + s * h * y for x, y in zip((q, v, target, gains), rates, strict=True)))
        for s in (1, -1)
    ]
    np.testing.assert_allclose(along, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-4)


def test_a_step_rolls_out(arm: Library) -> None:
    q, v, tau, _ = drawn(arm, "rk4")
    qs, vs = arm.rk4.rollout(q, v, np.tile(tau, (5, 1)), 0.01)
    for k in range(5):
        q, v = arm.rk4(q, v, tau, 0.01)
        assert (qs[k] == q).all()
        assert (vs[k] == v).all()


def tracking(robot: Any, q: Any, v: Any, q_ref: Any, w: Any) -> Any:
    """The cost of an error and of a kinetic energy."""
    return w[0] * (q - q_ref) @ (q - q_ref) + w[1] * robot.kinetic_energy(q, v)


TARGETS = {
    "q_ref": rbdgen.Quantity("rad", 2, held=True),
    "w": rbdgen.Quantity("1", 2, held=True, range=(0, 1)),
}

SMALL = rbdgen.load_robot("double_pendulum")


@pytest.mark.parametrize(
    ("robot", "cost", "moving"),
    [
        (SMALL, rbdgen.function(inputs=TARGETS, outputs={"cost": "1"})(tracking), ["q_bar", "v_bar"]),
        pytest.param(
            QUADRUPED, running, ["q_bar", "v_bar", "a_joints_bar", "f_bar"], marks=pytest.mark.campaign
        ),
    ],
    ids=["tracking", "running"],
)
def test_targets_are_not_differentiated(robot: Robot, cost: OwnFunction, moving: list[str]) -> None:
    library = rbdgen.build(robot, functions=[cost, f"{cost.name}_vjp"])
    outputs = [x.name for x in library.functions[f"{cost.name}_vjp"].signature.outputs]
    assert outputs == moving
    given = drawn(library, cost.name)
    weights = given[-1]
    assert ((weights >= 0) & (weights <= 1)).all()
    assert getattr(library, cost.name)(*given) == pytest.approx(cost(robot, *given), rel=1e-11)


def test_folder_for_a_small_machine(tmp_path: Path) -> None:
    """The folder has C alone, whose self-test passes on this machine."""
    folder = rbdgen.generate(
        ARM, tmp_path, functions=[reach], target="cortex-m7", compiled=False, real="double"
    )
    files = selftest_sources(folder)
    program = tmp_path / "selftest"
    subprocess.run(["gcc", "-std=c99", "-O1", "-ffp-contract=off", *files, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True, capture_output=True)


OPTIONS: list[dict[str, Any]] = [{"real": "float"}, {"packed": True}, {"trig": "libm"}, {"savings": False}]


@pytest.mark.parametrize("options", few(OPTIONS[:1], OPTIONS))
def test_options(options: dict[str, Any]) -> None:
    library = rbdgen.build(QUADRUPED, functions=[terms], **options)
    given = drawn(library, "terms")
    found = library.terms.dense(library.terms(*given))
    tolerance = 2e-4 if "real" in options else 1e-11
    for x, y in zip(found, terms(QUADRUPED, *given), strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * np.abs(y).max())


def test_parameters_stay_inputs() -> None:
    """The values are right at the defaults of the parameters, and change with the mass."""
    library = rbdgen.build(ARM, functions=[reach, "reach_vjp"], params=["mass:link7"])
    q, v, target, gains = drawn(library, "reach")[:4]
    p = library.parameters.defaults
    table = library.update(p)
    np.testing.assert_allclose(
        library.reach(q, v, target, gains, table), reach(ARM, q, v, target, gains), rtol=1e-10
    )
    other = library.reach(q, v, target, gains, library.update(2 * np.asarray(p)))
    assert np.abs(other - library.reach(q, v, target, gains, table)).max() > 1e-6


def test_the_text_is_part_of_the_key_of_the_cache() -> None:
    def made(factor: float) -> Any:
        @rbdgen.function(outputs={"y": ("rad", "nq")}, name="scaled")
        def scaled(robot: Any, q: Any) -> Any:
            return factor * q

        return rbdgen.build("double_pendulum", functions=[scaled]).scaled([1.0, 2.0])

    assert made(2.0).tolist() == [2.0, 4.0]
    assert made(3.0).tolist() == [3.0, 6.0]


def test_check_compares_with_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`rbdgen check ROBOT --own FILE` and `rbdgen ROBOT --own FILE`."""
    from rbdgen.cli import main  # noqa: PLC0415

    file = tmp_path / "mine.py"
    file.write_text(
        "import rbdgen\n"
        "@rbdgen.function(inputs={'gains': ('N m/rad', 2)}, outputs={'tau': 'tau'})\n"
        "def hold(robot, q, v, gains):\n"
        "    return robot.gravity(q) - gains[0] * q - gains[1] * v\n"
    )
    asked = ["double_pendulum", "--own", str(file)]
    assert main(["check", *asked, "-f", "hold,hold_vjp,hold_jvp", "--json"]) == 0
    findings = {row["what"]: row["passed"] for row in json.loads(capsys.readouterr().out)}
    assert findings["hold = its text"] is True
    assert findings["hold_jvp and hold_vjp are transposed"] is True
    assert main([*asked, "-o", str(tmp_path), "-q"]) == 0
    manifest = json.loads((tmp_path / "double_pendulum" / "manifest.json").read_text())
    assert list(manifest["functions"]) == manifest["own_functions"] == ["hold"]
    assert rbdgen.load(tmp_path / "double_pendulum").hold([0, 0], [0, 0], [1, 1]).shape == (2,)


def test_a_trace_is_a_function_of_casadi(arm: Library) -> None:
    pytest.importorskip("casadi")
    given = drawn(arm, "reach")
    traced = rbdgen.trace(ARM, reach)
    np.testing.assert_allclose(traced(*given).full().ravel(), arm.reach(*given), rtol=1e-11)


def test_frameworks(arm: Library) -> None:
    """CasADi calls the function, and gets its Jacobian from the products with derivatives."""
    casadi = pytest.importorskip("casadi")
    q, v, target, gains = drawn(arm, "reach")
    f = arm.casadi("reach")
    symbols = [casadi.MX.sym(name, len(x)) for name, x in zip("qvtg", (q, v, target, gains), strict=True)]
    jacobian = casadi.Function("J", symbols, [casadi.jacobian(f(*symbols), symbols[0])])
    J = np.array(jacobian(q, v, target, gains))
    for k in range(7):
        rates = [np.eye(7)[k], np.zeros(7), np.zeros(3), np.zeros(2)]
        np.testing.assert_allclose(J[:, k], arm.reach_jvp(q, v, target, gains, *rates), rtol=1e-9, atol=1e-9)


def test_results_of_calls_are_new_arrays() -> None:
    """A text may write to them, and call the row again."""

    def text(robot: Any, q: Any, v: Any) -> Any:
        M = robot.crba(q)
        M += 10 * np.eye(2)
        M[0, 0] = 0
        return robot.crba(q) @ v

    made = rbdgen.function(outputs={"y": ("N m s", "nv")}, name="written")(text)
    library = rbdgen.build("double_pendulum", functions=[made, "crba"])
    q, v = np.array([0.3, -0.7]), np.array([1.0, 2.0])
    np.testing.assert_allclose(library.written(q, v), library.crba(q) @ v, rtol=1e-13)
    np.testing.assert_allclose(
        made(rbdgen.load_robot("double_pendulum"), q, v), library.crba(q) @ v, rtol=1e-13
    )


def test_only_steps_roll() -> None:
    """A step has outputs of the kinds and shapes of its first inputs, a time step and torques."""

    def made(name: str, out: Any, *names: str) -> Any:
        scope: dict[str, Any] = {}
        exec(f"def text(robot, {', '.join(names)}):\n    return x[0] * {out[1]}", {"np": np}, scope)
        return rbdgen.function(inputs={"x": ("m", 2)}, outputs={"y": out[0]}, name=name)(scope["text"])

    functions = [
        made("grow", (("m", 6), "np.ones(6)"), "x", "tau", "dt"),
        made("passive", (("m", 2), "np.ones(2)"), "x", "dt"),
        made("step_of_x", (("m", 2), "np.ones(2)"), "x", "tau", "dt"),
    ]
    library = rbdgen.build("double_pendulum", functions=functions)
    assert not hasattr(library.grow, "rollout")
    assert not hasattr(library.passive, "rollout")
    assert library.step_of_x.rollout([1, 2], np.zeros((3, 2)), 0.1).tolist() == [[1, 1]] * 3


def test_steps_with_further_inputs_and_outputs() -> None:
    """Further inputs are constants of a rollout, or have a value for each step, torques among them. Further
    outputs stand behind q and v alone."""

    @rbdgen.function(
        inputs={"wind": ("N", 2, 2), "least": "tau"},
        outputs={"q_next": "q", "v_next": "v", "power": "W"},
        name="blown",
    )
    def blown(robot: Any, q: Any, v: Any, wind: Any, tau: Any, dt: Any, least: Any) -> Any:
        drive = np.maximum(tau, least) + wind @ q
        q_next, v_next = robot.step(q, v, drive, dt)
        return q_next, v_next, drive @ v_next

    @rbdgen.function(inputs={"x": ("m", 2)}, outputs={"y": ("m", 2), "cost": "1"}, name="costly")
    def costly(robot: Any, x: Any, tau: Any, dt: Any) -> Any:
        return x + dt * tau, x @ x

    library = rbdgen.build("double_pendulum", functions=[blown, costly, "difference"])
    assert not hasattr(library.costly, "rollout")
    rng = np.random.default_rng(0)
    q, v = rng.standard_normal((2, 11, 2))
    tau, least = rng.standard_normal((2, 11, 4, 2))
    wind, gains = rng.standard_normal((11, 2, 2)), rng.standard_normal((11, 4, 2, 4))
    for per_step, weakest in ((("least",), least), ((), least[:, 0])):
        given = {"wind": wind, "dt": 0.01, "least": weakest, "per_step": per_step}
        plain = library.rollout(q, v, tau=tau, **given)
        steered = library.rollout(q, v, tau=tau, gains=gains, states=np.zeros((4, 4)), **given)
        assert plain._fields == ("q", "v", "power")
        for found, driven in ((plain, tau), (steered, steered.tau)):
            now = q, v
            for k in range(4):
                low = least[:, k] if per_step else least[:, 0]
                *now, power = library.blown(*now, wind, driven[:, k], 0.01, low)
                for part, right in zip(found, (*now, power), strict=False):
                    np.testing.assert_array_equal(part[:, k], right)


def test_a_state_with_more_than_q_and_v_rolls_without_feedback() -> None:
    """The state of an actuator, of the kind of torques, is not taken for the control."""

    def text(robot: Any, q: Any, v: Any, lag: Any, tau: Any, dt: Any) -> Any:
        q_next, v_next = robot.step(q, v, lag, dt)
        return q_next, v_next, lag + 10 * dt * (tau - lag), lag * v_next

    outputs = {"q_next": "q", "v_next": "v", "lag_next": "tau", "powers": ("W", 2)}
    lagging = rbdgen.function(inputs={"lag": "tau"}, outputs=outputs, name="lagging")(text)
    library = rbdgen.build("double_pendulum", functions=[lagging, "difference"])
    x, tau = np.random.default_rng(1).standard_normal((3, 9, 2)), np.ones((5, 2))
    found, now = library.rollout(*x, tau, 0.01), tuple(x)
    assert found._fields == ("q", "v", "lag", "powers")
    for k in range(5):
        *now, powers = library.lagging(*now, tau[k], 0.01)
        for part, right in zip(found, (*now, powers), strict=True):
            np.testing.assert_array_equal(part[:, k], right)
    with pytest.raises(
        rbdgen.RbdgenError, match=r"^lagging\.rollout: feedback takes a step whose state is q"
    ):
        library.rollout(*x, tau, 0.01, gains=np.zeros((5, 2, 4)), states=np.zeros((5, 4)))


def test_names_that_rollouts_take_are_refused_for_steps_alone() -> None:
    def text(robot: Any, q: Any, v: Any, tau: Any, dt: Any, gains: Any) -> Any:
        return robot.step(q, v, tau + gains * v, dt)

    inputs, after = {"gains": ("N m s", "nv")}, {"q_next": "q", "v_next": "v"}
    with pytest.raises(rbdgen.RbdgenError, match=r"'held': rollouts have an argument 'gains'; rename it$"):
        rbdgen.function(inputs=inputs, outputs=after, name="held")(text)
    rbdgen.function(inputs=inputs, outputs={"v_next": "v", "q_next": "q"}, name="held")(text)


def test_static_arrays_do_not_change() -> None:
    def text(robot: Any, q: Any, gains: Any) -> Any:
        gains *= 2
        return gains * q

    made = rbdgen.function(outputs={"y": ("1", "nq")}, static={"gains": np.ones(2)}, name="doubled")(text)
    robot = rbdgen.load_robot("double_pendulum")
    assert [made(robot, [1, 1]).tolist() for _ in range(2)] == [[2, 2]] * 2


def test_own_functions_call_each_other() -> None:
    """The inner function has the shapes and the symmetry that it declares."""

    def inner(robot: Any, q: Any, P: Any) -> Any:
        return P @ q

    def outer(robot: Any, q: Any) -> Any:
        return half(robot, q, [[1, 7], [2, 5]]) + half(robot, q, P=np.eye(2)) + np.outer(q, q)[0]

    quantity = rbdgen.Quantity("1", (2, 2), symmetric=True)
    half = rbdgen.function(inputs={"P": quantity}, outputs={"y": ("1", 2)}, name="half")(inner)
    both = rbdgen.function(outputs={"y": ("1", 2)}, name="both")(outer)
    library = rbdgen.build("double_pendulum", functions=[both, half])
    q = np.array([0.3, -0.7])
    expected = np.array([[2.0, 2], [2, 6]]) @ q + q[0] * q
    np.testing.assert_allclose(library.both(q), expected, rtol=1e-14)
    np.testing.assert_allclose(both(rbdgen.load_robot("double_pendulum"), q), expected, rtol=1e-14)
    wrong = rbdgen.function(outputs={"y": ("1", 2)}, name="wrong")(lambda robot, q: half(robot, q, q))
    with pytest.raises(rbdgen.RbdgenError, match=r"half: P has shape \(2,\); give \(2, 2\)"):
        rbdgen.build("double_pendulum", functions=[wrong])


def test_numpy_on_expressions() -> None:
    """Arrays of np.array, conditions one after the other, and reductions over several axes."""

    def text(robot: Any, q: Any) -> Any:
        pairs = np.outer(q, np.array([q[1], 0.5]))
        extremes = np.max(pairs, axis=(0, 1)) - np.min(pairs)
        spread = np.var(pairs, axis=0) + np.std(q, ddof=1)
        chosen = np.select([q > 0.5, q > 0], [q, 2 * q], np.array([q[0], 3]))
        return rbdgen.array([extremes, *spread, *chosen])

    function = rbdgen.function(outputs={"y": ("1", 5)}, name="reduced")(text)
    robot = rbdgen.load_robot("double_pendulum")
    library = rbdgen.build(robot, functions=[function])
    for q in ([0.7, 0.2], [0.2, -0.4], [-0.3, 0.6]):
        np.testing.assert_allclose(library.reduced(q), function(robot, np.array(q)), rtol=1e-14)
