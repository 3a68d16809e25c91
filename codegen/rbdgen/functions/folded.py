"""Outputs over all degrees of freedom, folded to outputs over the independent ones."""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.functions.form import flat
from rbdgen.model.model import Model
from rbdgen.signature import Argument
from rbdgen.spatial.scalar import Scalar


def folded(model: Model, argument: Argument, output: Sequence[Scalar]) -> Sequence[Scalar]:
    """Fold an output over all degrees of freedom to one over the independent degrees of freedom."""
    if argument.shape[-2:] == ("nv", "nv"):
        rows = [output[k : k + model.nv] for k in range(0, len(output), model.nv)]
        matrices = (rows[k : k + model.nv] for k in range(0, len(rows), model.nv))
        return [value for matrix in matrices for value in flat(model.coupling.folded_matrix(matrix))]
    if argument.kind in ("torque_coefficients", "by_external_forces"):
        columns = len(output) // model.nv
        rows = [output[k : k + columns] for k in range(0, len(output), columns)]
        return flat(model.coupling.folded_rows(rows))
    if argument.kind in ("force", "columns"):
        rows = [output[k : k + model.nv] for k in range(0, len(output), model.nv)]
        return flat(list(map(model.coupling.folded, rows)))
    assert argument.kind in ("scalar", "energy_coefficients", "error", "values")
    return output
