"""A reference with a hundred digits: every function from the textbook's inverse dynamics and its
derivatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from support.forms import FORMS, relative_error, run_on_floats
from support.states import random_inputs

from rbdgen.functions.derivatives.one_frame import rnea_derivatives
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inverse_dynamics.newton_euler import rnea
from rbdgen.functions.table import TABLE, lookup
from rbdgen.model.model import Model
from rbdgen.spatial.ops import Matrix, Transform, Vector
from rbdgen.sweeps.inputs import State, coordinates, external_forces

Array = NDArray[np.float64]

DIGITS = mpmath.MPContext()
DIGITS.dps = 100


def inputs_of(model: Model) -> dict[str, Array]:
    """One state with all inputs that any function takes."""
    given = [random_inputs(model, lookup(name).signature, 1) for name in ("aba_fext", "rnea_fext")]
    return given[0] | given[1]


def largest_error(model: Model) -> tuple[float, str]:
    """The largest relative error of all forms of all functions in float64 at one state, and the form."""
    inputs = inputs_of(model)
    exact = references(model, inputs)
    return max(
        (relative_error(mine, true), str(form))
        for form in FORMS
        for mine, true in zip(run_on_floats(form, model, inputs), exact[form.function.name], strict=True)
    )


def with_all_digits(value: Any) -> Any:
    """A model, or a part of one, with floats as numbers of a hundred digits, so that products are exact."""
    if isinstance(value, float):
        return DIGITS.mpf(value)
    if isinstance(value, (Vector, Matrix, Transform)):
        return type(value)(*map(with_all_digits, value))
    if isinstance(value, tuple):
        return tuple(map(with_all_digits, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {x.name: with_all_digits(getattr(value, x.name)) for x in dataclasses.fields(value)}
        return dataclasses.replace(value, **parts)
    return value


def references(model: Model, inputs: Mapping[str, Array]) -> dict[str, list[Array]]:
    """The outputs of every function at one state, rounded at the very end."""
    model = with_all_digits(model)
    x = {key: [DIGITS.mpf(value) for value in rows[0].tolist()] for key, rows in inputs.items()}
    q, still = coordinates(model, x["q"], DIGITS.cos, DIGITS.sin), [DIGITS.mpf(0)] * model.nv
    v, a, tau, fext = x["v"], x["a"], DIGITS.matrix(x["tau"]), external_forces(x["fext"])
    M = DIGITS.matrix(crba(model, q))
    Minv = M**-1
    forward, forced = (Minv * (tau - DIGITS.matrix(rnea(model, q, v, still, f))) for f in (None, fext))
    inverse = [DIGITS.matrix(rows) for rows in rnea_derivatives(model, q, v, a)[:2]]
    ahead = [-Minv * DIGITS.matrix(rows) for rows in rnea_derivatives(model, q, v, list(forward))[:2]]
    exact: dict[str, list[Any]] = {
        "rnea": [rnea(model, q, v, a)],
        "rnea_fext": [rnea(model, q, v, a, fext)],
        "nle": [rnea(model, q, v, still)],
        "gravity": [rnea(model, q, still, still)],
        "aba": [list(forward)],
        "aba_fext": [list(forced)],
        "crba": [M.tolist()],
        "minv": [Minv.tolist()],
        "rnea_derivatives": [*(rows.tolist() for rows in inverse), M.tolist()],
        "aba_derivatives": [*(rows.tolist() for rows in ahead), Minv.tolist()],
    }
    state = State(q, v, a, x["tau"], fext)
    for row in TABLE.values():
        if row.name not in exact:  # the textbook's form, with numbers of a hundred digits
            outputs = row.signature.sized(model.sizes).outputs
            elements = row.forms[0].trace(model, state)
            exact[row.name] = [
                np.reshape(y, argument.shape) for argument, y in zip(outputs, elements, strict=True)
            ]
    return {name: [np.array([output], float) for output in outputs] for name, outputs in exact.items()}
