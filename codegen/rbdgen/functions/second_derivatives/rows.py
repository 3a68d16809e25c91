"""The rows of the second derivatives of inverse and forward dynamics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rbdgen.functions.arguments import TAU, A, Q, V
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.form import Form, Outputs, cheap
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.resisting import resisting
from rbdgen.functions.second_derivatives.forward_dynamics import aba_second, aba_second_without_savings
from rbdgen.functions.second_derivatives.inverse_dynamics import expansion, expansion_without_savings
from rbdgen.functions.second_derivatives.tensors import Tensor, flat
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State


def _tensor(name: str, unit: str, meaning: str, symmetric: tuple[int, int] | None = None) -> Argument:
    return Argument(name, "tensor", ("nv", "nv", "nv"), unit, meaning, symmetric, packed=True)


def _flat(model: Model, tensors: Sequence[Tensor]) -> Outputs:
    return [flat(tensor, model.coupling.independent) for tensor in tensors]


def _plain(source: str, tensors: Callable[[Model, State], Sequence[Tensor]]) -> Form:
    return Form("automatic", source, lambda model, x: _flat(model, tensors(model, x)), degrees="independent")


def _cheap(source: str, tensors: Callable[[ReducedModel, State], Sequence[Tensor]]) -> Form:
    return cheap("local", source, lambda reduced, x: _flat(reduced.model, tensors(reduced, x)), "independent")


def _torque_operations(size: TreeSize) -> int:
    return 2050 * size.ancestors + 130 * size.triples - 1100 * size.bodies


_FIRST = (resisting(derivatives.RNEA_DERIVATIVES), "local")


def _affine(function: str, by_q: str, of: str, tensor: int) -> Identity:
    """The identity that a first derivative by q is affine in a or tau; its slope is output number
    `tensor`."""

    def sides(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
        here, there = (call(by_q, **{of: value}) for value in (x[of], 0 * x[of]))
        slope = call(function)[tensor]
        order = "kijm,kj->kim" if of == "a" else "kijm,km->kij"
        return here[0] - there[0], np.einsum(order, slope, x[of])

    return Identity(f"{by_q} is affine in {of}, as {function} says", (by_q, function), sides)


RNEA_SECOND = Function(
    Signature(
        "rnea_second",
        (Q, V, A),
        (
            _tensor("qq", "N m/rad^2, N/m^2", "[i, j, k]: d/dq_k of dtau_i/dq_j, tangent space", (1, 2)),
            _tensor("qv", "N m s/rad^2, N s/m^2", "[i, j, k]: d/dv_k of dtau_i/dq_j"),
            _tensor("vv", "N m s^2/rad^2, N s^2/m^2", "[i, j, k]: d/dv_k of dtau_i/dv_j", (1, 2)),
            _tensor("qa", "kg m^2/rad, kg m, kg", "[i, j, k]: d/dq_k of dtau_i/da_j = M_ij", (0, 1)),
        ),
    ),
    "second derivatives of inverse dynamics, packed",
    (
        _plain(
            "Singh, Russell, Wensing, RA-L 2022, differentiated forward",
            lambda model, x: expansion_without_savings(model, x).second,
        ),
        _cheap(
            "first derivatives in the bodies' own axes, differentiated forward; the rest by symmetries",
            lambda reduced, x: expansion(reduced, x).second,
        ),
    ),
    operations=_torque_operations,
    measure=_FIRST,
    identities=(
        _affine("rnea_second", "rnea_derivatives", "a", 3),
        Identity(
            "sum over k of dM/dq_k v_k = C + C^T",
            ("coriolis", "rnea_second"),
            lambda call, x: (
                np.einsum("kijm,km->kij", call("rnea_second")[3], x["v"]),
                call("coriolis") + call("coriolis").swapaxes(1, 2),
            ),
        ),
    ),
    on_request=True,
)

ABA_SECOND = Function(
    Signature(
        "aba_second",
        (Q, V, TAU),
        (
            _tensor("qq", "1/(s^2 rad), 1/(s^2 m)", "[i, j, k]: d/dq_k of da_i/dq_j, tangent space", (1, 2)),
            _tensor("qv", "1/(s rad), 1/(s m)", "[i, j, k]: d/dv_k of da_i/dq_j"),
            _tensor("vv", "1/rad, 1/m", "[i, j, k]: d/dv_k of da_i/dv_j", (1, 2)),
            _tensor("qtau", "1/(kg m^2 rad), 1/(kg m^3)", "[i, j, k]: d/dq_j of da_i/dtau_k", (0, 2)),
        ),
    ),
    "second derivatives of forward dynamics, packed",
    (
        _plain("M^-1 times those of inverse dynamics at a = FD", aba_second_without_savings),
        _cheap("the same by the factor of M, a floating base's own motion apart", aba_second),
    ),
    operations=lambda size: _torque_operations(size) + 95 * size.factor + 7 * size.solves,
    measure=_FIRST,
    identities=(_affine("aba_second", "aba_derivatives", "tau", 3),),
    on_request=True,
)

ROWS = (RNEA_SECOND, ABA_SECOND)
