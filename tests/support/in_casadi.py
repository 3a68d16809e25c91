"""States, first and second derivatives of functions of CasADi, and traces to compare with."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

import rbdgen
from rbdgen.functions.table import lookup
from rbdgen.runtime import Library
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedSignature

Array = NDArray[np.float64]


def states(library: Library, name: str, knots: int) -> dict[str, Array]:
    """Random inputs, with one row per state."""
    inputs = library.functions[name].signature.inputs
    return library.manifold.random_inputs(inputs, np.random.default_rng(0), (knots,))


def beside(arrays: Array) -> Array:
    """The array of several states in CasADi's layout: a column for each, or matrices side by side."""
    return np.hstack([array.reshape(len(array), -1) for array in arrays])


HELD = ("active", "mu", "gains", "restitution", "share", "table", "reference")
"""Inputs that are constant for CasADi's derivatives."""


def hessian(function: Any, arrays: list[Array]) -> tuple[Array, Array]:
    """First and second derivatives of the weighted results by all inputs that are not constant."""
    random = np.random.default_rng(1)
    symbols = [casadi.MX.sym(f"x{k}", *array.shape) for k, array in enumerate(arrays)]
    loss = sum(casadi.dot(y, random.normal(size=y.shape)) for y in function.call(symbols))
    moving = [x for x, name in zip(symbols, function.name_in(), strict=True) if name not in HELD]
    second, first = casadi.Function("second", symbols, casadi.hessian(loss, casadi.veccat(*moving)))(*arrays)
    return second.full(), first.full()


def jacobians(function: Any, arrays: list[Array]) -> list[Any]:
    """The Jacobians of all results by all inputs that are not constant."""
    found = function.jacobian()(*arrays, *[0] * function.n_out())
    blocks = found if isinstance(found, tuple) else (found,)
    names = function.name_in()
    return [block for k, block in enumerate(blocks) if names[k % len(names)] not in HELD]


def of_unit_length(robot: Any, name: str, manifold: Manifold) -> Any:
    """The traced expressions of q / |q|, whose derivatives along the lengths of quaternions are 0."""
    return by_unit_length(rbdgen.trace(robot, name), lookup(name, robot.model).sized(robot.model), manifold)


def by_unit_length(traced: Any, signature: SizedSignature, manifold: Manifold) -> Any:
    """Traced expressions, of q / |q| and with matrices as inputs."""
    taken = signature.inputs
    symbols = [casadi.SX.sym(x.name, *(x.shape or (1,))) for x in taken]
    given = [
        unit(x, manifold) if argument.kind == "configuration" else casadi.vec(x.T)  # traces take them by rows
        for x, argument in zip(symbols, taken, strict=True)
    ]
    return casadi.Function(f"{signature.name}_of_unit_length", symbols, traced.call(given), *names_of(traced))


def unit(q: Any, manifold: Manifold) -> Any:
    """The configuration with quaternions of unit length."""
    elements = casadi.vertsplit(q)
    for at in manifold.quaternions:
        own = casadi.vertcat(*elements[at : at + 4])
        elements[at : at + 4] = casadi.vertsplit(own / casadi.norm_2(own))
    return casadi.vertcat(*elements)


def names_of(function: Any) -> tuple[list[str], list[str]]:
    return function.name_in(), function.name_out()
