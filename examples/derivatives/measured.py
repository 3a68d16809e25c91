"""Measures all rows of the paper's Table I for one robot, and compares the results of all methods.

Every contestant gives the time of each function and its results at the first states. Results that differ from
rbdgen's analytical ones by more than rounding, or by more than finite differences do, are an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import toolchain
from benchmarks.bench import Json, attempt, processor
from benchmarks.casadi_c import measure_casadi
from benchmarks.contestants import Contest
from benchmarks.measurement import Measurement
from benchmarks.peers import pinocchio_cpp, pinocchio_cppadcg
from benchmarks.states import States, random_states
from benchmarks.toolchain import ToolError
from examples.derivatives.automatic import (
    DIFFERENTIATED,
    OPERATIONS,
    expression,
    in_tangent_space,
    jacobian,
)
from examples.derivatives.generated import Effort, generated, inputs_of
from examples.derivatives.robots import IN_THE_PAPER
from rbdgen.model.build import Robot
from rbdgen.pipeline.robot import load_robot

ROWS: Final = {
    "rnea": "ID",
    "rnea_derivatives": "analytical derivatives of ID",
    "rnea_jacobian": "automatic differentiation of ID",
    "rnea_differences": "finite differences of ID",
    "aba": "FD",
    "aba_derivatives": "analytical derivatives of FD",
    "aba_jacobian": "automatic differentiation of FD",
    "aba_differences": "finite differences of FD",
    "minv": "M^-1, recursion",
    "minv_cholesky": "M^-1, Cholesky factorization",
}
"""The rows of the table: functions, and what they compute."""

SAME: Final = {
    "rnea_jacobian": "rnea_derivatives",
    "rnea_differences": "rnea_derivatives",
    "aba_jacobian": "aba_derivatives",
    "aba_differences": "aba_derivatives",
    "minv_cholesky": "minv",
}
"""The function of rbdgen that computes the same as each function of other methods."""

ROUNDING: Final = 1e-7
"""The largest accepted difference of exact results, relative to the largest entry of a result."""

OF_DIFFERENCES: Final = 1e-2
"""The largest accepted difference of finite differences."""

LARGEST_GENERATED: Final = 18
"""The largest number of degrees of freedom for which CppADCodeGen's C is compiled without `slow`."""

CHECKED: Final = 4
"""The number of states at which results are compared."""


Outputs = tuple[NDArray[np.floating], ...]


class Entry(NamedTuple):
    """A function of one contestant: its time, and its results (states, ...) at the first states."""

    measurement: Measurement
    outputs: Outputs


Entries = dict[str, Entry]


def measured(contest: Contest, effort: Effort, *, compiled_peers: bool = True) -> Json:
    """The times and errors of all contestants, as JSON.

    `compiled_peers` says whether Pinocchio's C++ and CppADCodeGen take part, whose drivers take minutes to
    compile. Raises ToolError if the results of a contestant are wrong, or if no compiler is installed.
    """
    robot = load_robot(contest.urdf, contest.base, mimic="independent")
    states = random_states(robot.nv, floating=contest.floating)
    automatic = {name: jacobian(robot, name) for name in DIFFERENTIATED}
    short = [name for name, each in automatic.items() if effort.slow or each.n_instructions() <= OPERATIONS]
    casadi = {name: expression(robot, name) for name in DIFFERENTIATED.values()} | automatic
    found = {"rbdgen": of_rbdgen(robot, states, effort), "CasADi": of_casadi(casadi, states, effort)}
    if compiled_peers:
        model = attempt(
            "Pinocchio", lambda: pinocchio_cpp.load_model(contest.urdf, floating=contest.floating)
        )
        found["Pinocchio"] = peer("Pinocchio's C++", lambda: of_pinocchio(model, states, effort), model)
        if effort.slow or robot.nv <= LARGEST_GENERATED:
            known = (*pinocchio_cppadcg.FUNCTIONS, *short)
            names = [name for name in ROWS if name in known]
            found["CppADCodeGen"] = peer(
                "CppADCodeGen", lambda: of_cppadcg(model, names, states, effort), model
            )
    references = {name: entry.outputs for name, entry in found["rbdgen"].items()}
    return {
        "robot": contest.name,
        "instead_of": IN_THE_PAPER.get(contest.name, ""),
        "dof": robot.nv,
        "machine": processor(),
        "load": round(os.getloadavg()[0], 1),
        "functions": {
            name: {
                who: told(f"{name} of {who}", entries[name], references[SAME.get(name, name)])
                for who, entries in found.items()
                if name in entries
            }
            for name in ROWS
        },
    }


def peer(who: str, entries: Callable[[], Entries], model: Any) -> Entries:
    """The entries of a contestant; a line says why there are none."""
    return {} if model is None else attempt(who, entries) or {}


def told(who: str, entry: Entry, references: Outputs) -> Json:
    """An entry as JSON. Raises ToolError if its results are wrong."""
    error = relative_error(entry.outputs, references)
    limit = OF_DIFFERENCES if "differences" in who else ROUNDING
    if not error < limit:
        raise ToolError(
            f"{who}: {error:g} off from the analytical results; a wrong result is not worth timing"
        )
    return {**entry.measurement.to_json(), "error": error}


def relative_error(outputs: Outputs, references: Outputs) -> float:
    """The largest difference, relative to the largest entry of each result; NaN if there is one."""
    errors = []
    for output, reference in zip(outputs, references, strict=True):
        for got, expected in zip(output[:CHECKED], reference[:CHECKED], strict=True):
            scale = float(np.abs(expected).max()) or 1.0
            errors.append(float(np.abs(got.ravel() - expected.ravel()).max()) / scale)
    return float(np.max(errors))


def of_rbdgen(robot: Robot, states: States, effort: Effort) -> Entries:
    """rbdgen's C. Its automatic differentiation is that of `NAME_jacobian`."""
    with generated(robot) as made:
        timed = {name: made.timed(name, states, effort) for name in ROWS}
    return {name: Entry(entry.measurement, entry.outputs) for name, entry in timed.items()}


def of_casadi(functions: Mapping[str, Any], states: States, effort: Effort) -> Entries:
    """CasADi's C of rbdgen's expressions of RNEA and ABA, and of their derivatives by CasADi."""
    found = {}
    for name, function in functions.items():
        rivals = [
            measure_casadi(
                function,
                inputs_of(name, states),
                compiler=compiler,
                relinks=effort.links,
                seconds=effort.seconds,
            )
            for compiler in toolchain.available()
        ]
        best = min(rivals, key=lambda timed: timed.measurement.ns)
        found[name] = Entry(best.measurement, best.outputs)
    return found


def of_pinocchio(model: Any, states: States, effort: Effort) -> Entries:
    """Pinocchio's C++, with the faster compiler for each function."""
    found: Entries = {}
    for driver in (pinocchio_cpp.DRIVER, pinocchio_cpp.DIFFERENCES_DRIVER):
        times = pinocchio_cpp.measure_best(
            model, states, driver=driver, relinks=effort.links, seconds=effort.seconds
        )
        values = pinocchio_cpp.values(
            model, states.head(CHECKED), driver=driver, compiler=toolchain.available()[0]
        )
        results: Mapping[str, Any] = {name.partition(":")[0]: outputs for name, outputs in values.items()}
        found |= {name: Entry(times[name], tuple(results[name])) for name in ROWS if name in times}
    return found


def of_cppadcg(model: Any, names: Sequence[str], states: States, effort: Effort) -> Entries:
    """C that Pinocchio generates with CppADCodeGen: of its algorithms, analytical derivatives among them,
    and of their automatic differentiation by the elements of q, by v, and by a or tau."""
    entries = pinocchio_cppadcg.measure(
        model, states, functions=names, launches=effort.links, seconds=effort.seconds
    )
    q = pinocchio_cpp.pinocchio_q(model, states.q[:CHECKED])
    return {
        name: Entry(
            entry.measurement,
            in_tangent_space(entry.outputs[0], q) if name in pinocchio_cppadcg.JACOBIANS else entry.outputs,
        )
        for name, entry in entries.items()
    }
