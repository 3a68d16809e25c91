"""Functions called together have the results of the functions one by one, with fewer operations."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.few import few
from support.folders import selftest_sources
from support.hopper import hopper
from support.own import ARM, QUADRUPED, drawn

import rbdgen
from rbdgen.functions.composed import composed
from rbdgen.functions.form import LIMBS
from rbdgen.functions.table import lookup, rows_of
from rbdgen.graph.evaluate import evaluate
from rbdgen.own.together import Together, together_functions
from rbdgen.runtime import Library
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser

CONTROL = ["nle", "crba", "contact_jacobian", "contact_motion"]
KNOT = ["rnea", "crba", "frame_placement", "frame_jacobian_aligned", "centroidal_matrix"]
FEW = ["rnea", "gravity", "rnea_derivatives", "frame_placement"]

PARTS = 4
"""The number of parts into which the table of all functions is cut."""

SETS: dict[str, Any] = {"few": FEW, "back": ["aba", "rnea_vjp"], "nested": ["few", "com"]}


def made(robot: Any, *names: str) -> Together:
    (function,) = together_functions({"both": names}, robot)
    return function


@pytest.fixture(scope="module")
def arm() -> Library:
    names = [*FEW, "aba", "rnea_vjp", "com", "few_vjp", "few_jvp"]
    return rbdgen.build(ARM, functions=names, together=SETS)


@pytest.mark.parametrize(
    ("robot", "names", "most"),
    [(QUADRUPED, CONTROL, 2285), (QUADRUPED, KNOT, 2598), (ARM, KNOT, 927)],
    ids=["control", "knot", "arm"],
)
def test_operations(robot: Any, names: list[str], most: int) -> None:
    """The counts of docs/functions.md."""
    row = composed(made(robot, *names).composition(robot), robot.model)
    assert Chooser(robot.model, search(robot.model), "graph").choose(row).program.cost.total == most


def test_values_are_those_of_single_calls(arm: Library) -> None:
    """The results come in the order of the list, and those of equal names begin with the function's."""
    assert [x.name for x in arm.few.signature.outputs] == [
        *("rnea_tau", "gravity_tau", "dtau_dq", "dtau_dv", "dtau_da", "R", "p"),
    ]
    for name, members in SETS.items():
        function = arm.functions[name]
        given = dict(zip((x.name for x in function.signature.inputs), drawn(arm, name), strict=True))
        expected: list[Any] = []
        for member in members:
            called = arm.functions[member]
            found = called(*(given[x.name] for x in called.signature.inputs))
            expected += found if isinstance(found, tuple) else [found]
        for x, y in zip(function(**given), expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13 * max(1, np.abs(y).max()))


def test_batches_have_the_bits_of_single_calls(arm: Library) -> None:
    given = drawn(arm, "few", (37,))
    found = arm.few(*given, threads=2)
    for k in range(37):
        for x, y in zip(found, arm.few(*(x[k] for x in given)), strict=True):
            assert x[k].tobytes() == y.tobytes()


def test_derivatives_and_frameworks(arm: Library) -> None:
    """The derivative along a direction of q has the columns of `rnea_derivatives`; CasADi uses it."""
    casadi = pytest.importorskip("casadi")
    q, v, a = drawn(arm, "rnea")
    expected = arm.rnea_derivatives(q, v, a).dtau_dq
    rates = arm.few_jvp(q, v, a, np.eye(7)[2], np.zeros(7), np.zeros(7))
    np.testing.assert_allclose(rates.rnea_tau_dot, expected[:, 2], rtol=1e-10, atol=1e-10)
    x = casadi.MX.sym("q", 7)
    jacobian = casadi.Function("J", [x], [casadi.jacobian(arm.casadi("few")(x, v, a)[0], x)])
    np.testing.assert_allclose(jacobian(q).full(), expected, rtol=1e-9, atol=1e-9)


def test_alike_limbs_are_lanes() -> None:
    """The quadruped's legs are lanes in one call; batches run limb by limb."""
    library = rbdgen.build(QUADRUPED, functions=["nle", "crba"], together={"dynamics": ["nle", "crba"]})
    assert library.manifest["functions"]["dynamics"]["form"] == LIMBS
    q, v = drawn(library, "dynamics")
    for x, y in zip(library.dynamics(q, v), (library.nle(q, v), library.crba(q)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("part", few([0], range(PARTS)))
def test_every_function_can_be_called_together(part: int) -> None:
    """Each function of a robot with frames, contacts and a set of them, and derivatives, beside another."""
    robot = hopper()
    model, rng = robot.model, np.random.default_rng(0)
    chooser = Chooser(model, None, "graph")
    names = [name for name, row in rows_of(model).items() if row.around is None and row.contacts is None]
    names += ["delassus_one", "contact_aba_one", "step", "integrate", "rnea_vjp", "contact_aba_jvp"]
    for name in [*names, "kinetic_energy_hessian"][part::PARTS]:
        member = lookup(name, model)
        other = "potential_energy" if name == "kinetic_energy" else "kinetic_energy"
        (function,) = together_functions({f"with_{name}s": (other, name)}, robot)
        row = composed(function.composition(robot), model)
        inputs = {x.name: rng.uniform(0.1, 1, (3, x.size)) for x in row.sized(model).inputs}
        graphs = [chooser.choose(x).program.straight for x in (row, lookup(other, model), member)]
        found, *parts = (
            list(evaluate(graph, {x.name: inputs[x.name] for x in graph.inputs}).values())
            for graph in graphs
            if graph is not None
        )
        for x, y in zip(found, [*parts[0], *parts[1]], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9 * np.abs(y).max(), err_msg=name)


def test_a_folder_for_a_small_machine(tmp_path: Path) -> None:
    """Its self-test passes on this machine, and a budget of flash finds the loops over limbs."""
    folder = rbdgen.generate(
        ARM, tmp_path, together={"few": FEW}, target="cortex-m7", compiled=False, real="double"
    )
    program = tmp_path / "selftest"
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-lm", "-o", program]
    subprocess.run(["gcc", *selftest_sources(folder), *flags], check=True)
    subprocess.run([program], check=True, capture_output=True)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`rbdgen check` compares with the functions, in a folder and on floats."""
    from rbdgen.cli import main  # noqa: PLC0415

    asked = ["double_pendulum", "--together", "both=rnea,crba"]
    assert main(["check", *asked, "-f", "rnea,crba", "--json"]) == 0
    findings = {row["what"]: row["passed"] for row in json.loads(capsys.readouterr().out)}
    assert findings["both = rnea, crba"] is True
    assert findings["both = its functions"] is True
    assert main([*asked, "-o", str(tmp_path), "-q", "--no-compile"]) == 0
    manifest = json.loads((tmp_path / "double_pendulum" / "manifest.json").read_text())
    assert list(manifest["functions"]) == ["both"]
    assert manifest["functions"]["both"]["members"] == ["rnea", "crba"]


@pytest.mark.parametrize(
    ("together", "told"),
    [
        ({"x": ["rnea", "nope"]}, "together={'x': 'rnea,nope'}: unknown function 'nope'; "),
        (
            {"x": ["rnea", "delassus"]},
            "together={'x': 'rnea,delassus'}: function 'delassus' needs contacts, ",
        ),
        ({"x": ["rnea"]}, "together={'x': 'rnea'}: these are fewer than two functions; "),
        ({"x": ["rnea", "rnea"]}, "together={'x': 'rnea,rnea'}: 'rnea' is named twice; "),
        ({"x": "rnea,crba"}, "together={'x': 'rnea,crba'}: give a list of functions, "),
        (["rnea", "crba"], "together=['rnea', 'crba']: give a dict, "),
        ({"aba": ["rnea", "crba"]}, "together={'aba': 'rnea,crba'}: function 'aba': rbdgen has a function "),
        (
            {"x_vjp": ["rnea", "crba"]},
            "together={'x_vjp': 'rnea,crba'}: function 'x_vjp' would have the name ",
        ),
        ({"a b": ["rnea", "crba"]}, "together={'a b': 'rnea,crba'}: 'a b' is not usable as a name in C"),
        ({3: ["rnea", "crba"]}, "together={3: 'rnea,crba'}: 3 is not a name; "),
        ({"x": [3, "crba"]}, "together={'x': '3,crba'}: function 3 is not a name; "),
        ({"x": ["rnea", "rnea_dparams"]}, "together={'x': 'rnea,rnea_dparams'}: 'rnea_dparams' takes the "),
    ],
)
def test_bad_requests_are_refused(together: Any, told: str) -> None:
    with pytest.raises(rbdgen.RbdgenError) as refused:
        rbdgen.build("arm7", together=together)
    assert str(refused.value).startswith(told)
    assert "\n" not in str(refused.value)


def test_what_contradicts_is_refused() -> None:
    robot = hopper()
    for names, told in (
        (("contact_aba", "contact_aba_one"), "the input 'active' of contact_aba_one is another one than "),
        (("step", "contact_aba_held"), "rollouts have an argument 'gains', which is an input here; "),
    ):
        with pytest.raises(rbdgen.RbdgenError) as refused:
            made(robot, *names)
        assert str(refused.value).startswith(f"together={{'both': '{','.join(names)}'}}: {told}")
    with pytest.raises(rbdgen.RbdgenError, match=r"^function 'x_vjp': two arrays would be named 'tau_bar'; "):
        rbdgen.build(robot, functions=["x_vjp"], together={"x": ["rnea", "rnea_vjp"]})
    assert "`" not in str(refused.value)


def test_own_functions_are_called_together() -> None:
    """Own functions may be among them, and the command line names the option as a flag."""

    def text(robot: Any, q: Any, v: Any, weight: Any) -> Any:
        return robot.crba(q) @ v * weight

    momentum = rbdgen.function(inputs={"weight": "1"}, outputs={"p": ("N m s", "nv")}, name="weighted")(text)
    library = rbdgen.build("double_pendulum", functions=[momentum], together={"both": ["crba", momentum]})
    q, v = np.array([0.3, -0.7]), np.array([1.0, 2.0])
    M, p = library.both(q, v, 2.0)
    np.testing.assert_allclose(p, 2 * M @ v, rtol=1e-13)
    with pytest.raises(rbdgen.RbdgenError, match="'weighted_vjp' is a derivative of an own function") as told:
        rbdgen.build("double_pendulum", own=[momentum], together={"both": ["crba", "weighted_vjp"]})
    assert told.value.in_shell.startswith("--together both=crba,weighted_vjp: ")
