"""The rows of the joint-space inertia matrix and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.functions.arguments import Q, square
from rbdgen.functions.form import Form, cheap, flat, in_loops, swept, swept_in_loops, where_coupled
from rbdgen.functions.function import Call, Function, Identity, symmetric
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.functions.inertia_matrix.inverse import minv_factored, minv_recursive
from rbdgen.functions.inertia_matrix.inverse_embedded import minv_embedded
from rbdgen.functions.inertia_matrix.inverse_hybrid import minv_composite, minv_hybrid, minv_looped
from rbdgen.functions.inertia_matrix.moments import INERTIA_MATRIX
from rbdgen.functions.inertia_matrix.vectors import columns_fill, minv_vectors
from rbdgen.signature import Signature


def _product_is_one(call: Call, _: object) -> tuple[Any, Any]:
    product = call("crba") @ call("minv")
    return product, np.broadcast_to(np.eye(product.shape[-1]), product.shape)


CRBA = Function(
    Signature("crba", (Q,), (square("M", "kg m^2, kg m, kg", "joint-space inertia matrix", symmetric=True),)),
    "joint-space inertia matrix M(q), both triangles",
    (
        Form(
            "composite",
            "Featherstone 2008, table 6.2",
            lambda model, x: [flat(crba(model, x.q, x.naming))],
        ),
        swept("moments", "composite mass moments; Khalil and Dombre 2002, ch. 9", ("M",), INERTIA_MATRIX),
        swept_in_loops("the same in loops over bodies and pairs of bodies", ("M",), INERTIA_MATRIX),
    ),
    operations=lambda size: 160 * size.bodies + 48 * size.ancestors,
    pinocchio=lambda pin, model, data, x: symmetric(pin.crba(model, data, x["q"])),
)

MINV = Function(
    Signature("minv", (Q,), (square("Minv", "1/(kg m^2), 1/(kg m), 1/kg", "inverse of M", symmetric=True),)),
    "inverse of the joint-space inertia matrix, both triangles",
    (
        Form(
            "recursive",
            "Carpentier, LAAS 2018, corrected",
            lambda model, x: [flat(minv_recursive(model, x.q, x.naming))],
            degrees="tree",
        ),
        Form(
            "factored",
            "CRBA, then the sparse factors L^T D L; Featherstone 2008, section 6.5",
            lambda model, x: [flat(minv_factored(model, x.q, x.naming))],
            degrees="independent",
        ),
        cheap(
            "moments",
            "CRBA with composite mass moments, then the sparse factors L^T D L",
            lambda reduced, x: [flat(minv_composite(reduced, x.q, x.naming))],
            "independent",
        ),
        cheap(
            "hybrid",
            "Minv = W D^-1 W^T, factored by the inward pass of articulated bodies",
            lambda reduced, x: [flat(minv_hybrid(reduced, x.q, x.naming, x.lanes))],
            "tree",
            can_use_limbs=True,
        ),
        cheap(
            "embedded",
            "as hybrid, with embedded constraints of followers; Jain, Robot and Multibody Dynamics, 2011",
            lambda reduced, x: [flat(minv_embedded(reduced, x.q, x.naming))],
            "independent",
            worth_trying=where_coupled,
        ),
        in_loops(
            "as hybrid, with columns of W D^-1 W^T as SIMD lanes",
            minv_vectors,
            "columns",
            for_size=False,
            degrees="tree",
            worth_trying=columns_fill,
            can_use_limbs=True,
            former_name="vectors",
        ),
        in_loops(
            "as hybrid, factored in loops over bodies; one product runs for every column",
            minv_looped,
            degrees="tree",
        ),
    ),
    operations=lambda size: 290 * size.bodies + 67 * size.ancestors + 29 * size.connected,
    pinocchio=lambda pin, model, data, x: symmetric(pin.computeMinverse(model, data, x["q"])),
    identities=(Identity("M Minv = 1", ("crba", "minv"), _product_is_one),),
    projected=lambda call, _: np.linalg.inv(call("crba")),
)

ROWS = (CRBA, MINV)
