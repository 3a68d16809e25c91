"""The rows of distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from rbdgen.functions.arguments import Q
from rbdgen.functions.distances import gradient, in_lanes, nearest, softmin
from rbdgen.functions.form import Form, Outputs, cheap, in_loops
from rbdgen.functions.function import Call, Function, Identity
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.needs import PAIRS
from rbdgen.functions.resisting import resisting
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Kind, Signature
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import LoopedForm

AWAY: Final = -1e6
"""The radius in m of an obstacle that is not used. Its distances are about 1e6 m."""


def _obstacles(
    name: str, unit: str, meaning: str, unused: tuple[float, ...], kind: Kind = "obstacles"
) -> Argument:
    return Argument(name, kind, (f"n{name}", len(unused)), unit, meaning, default=unused, optional=True)


OBSTACLES: Final = (
    _obstacles("spheres", "m", "spheres: centre in world axes, radius", (0.0, 0.0, 0.0, AWAY)),
    _obstacles(
        "capsules",
        "m",
        "capsules: both ends of the axis in world axes, radius",
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, AWAY),
    ),
    _obstacles(
        "boxes",
        "m, 1, m",
        "boxes: centre in world axes, rotation from the box's axes to the world's by rows, half the edges",
        (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, AWAY, AWAY, AWAY),
    ),
    _obstacles(
        "halfspaces",
        "1, m",
        "halfspaces n . x <= o: the unit normal n out of it in world axes, and o",
        (1.0, 0.0, 0.0, AWAY),
        "outward_planes",
    ),
)

_INPUTS: Final = (Q, *OBSTACLES)

_SOURCE: Final = "three clamps, Ericson 2005, section 5.1.9"
_REDUCED: Final = "the same in body axes chosen by count"
_WRENCHES: Final = "a wrench for each pair, and the axes of the joints between both bodies"

_MEASURE: Final = (resisting(inverse_dynamics.RNEA), "classical")
"""The axes of inverse dynamics also suit placements, and take no search."""

Trace = Callable[[Model | ReducedModel, State], Outputs]


def _forms(trace: Trace, source: str) -> tuple[Form, Form]:
    return Form("from_root", source, trace), cheap("reduced", _REDUCED, trace)


def _in_lanes(loops: Callable[[ReducedModel], LoopedForm]) -> Form:
    source = "the same, with pairs as the lanes of vectors"
    form = in_loops(source, loops, "pairs", for_size=False, worth_trying=in_lanes.pairs_fill)
    return replace(form, degrees="tree", most_work=in_lanes.MOST_WORK, joins=True)


def _along(trace: Trace) -> Form:
    return cheap("wrenches", "motions of bodies times wrenches of pairs", trace)


def _apart(call: Call, x: Mapping[str, Any]) -> tuple[Any, Any]:
    del x
    points, normal = call("distance_witness")
    along = np.einsum("...ij,...ij->...i", points[..., 0, :] - points[..., 1, :], normal)
    return along, call("distances")


def _operations(size: TreeSize) -> int:
    return 60 * size.bodies + 60 * size.distances


def _operations_of_gradient(size: TreeSize) -> int:
    return 80 * size.bodies + (80 + 11 * size.bodies) * size.distances


DISTANCES: Final = Function(
    Signature(
        "distances", _INPUTS, (Argument("distance", "values", ("npairs",), "m", "the distance of each pair"),)
    ),
    "signed distances of pairs of capsules and obstacles",
    (*_forms(nearest.distances, _SOURCE), _in_lanes(in_lanes.distances)),
    operations=_operations,
    along=_along(gradient.rates),
    only_along=True,
    needs=(PAIRS,),
    measure=_MEASURE,
)

DISTANCE_JACOBIAN: Final = Function(
    Signature(
        "distance_jacobian",
        _INPUTS,
        (Argument("J", "columns", ("npairs", "nv"), "m/rad, m/m", "J v: the rates of the distances"),),
    ),
    "Jacobian of the distances",
    (*_forms(gradient.jacobian, _WRENCHES), _in_lanes(in_lanes.jacobian)),
    operations=_operations_of_gradient,
    derivative_of="distances",
    needs=(PAIRS,),
    measure=_MEASURE,
)

DISTANCE_WITNESS: Final = Function(
    Signature(
        "distance_witness",
        _INPUTS,
        (
            Argument(
                "points", "values", ("npairs", 2, 3), "m", "the nearest points of both surfaces, in the world"
            ),
            Argument(
                "normal",
                "values",
                ("npairs", 3),
                "1",
                "unit normal from the second to the first, in the world",
            ),
        ),
    ),
    "nearest points of pairs, and the normals between them",
    _forms(nearest.witness, _SOURCE),
    operations=lambda size: 60 * size.bodies + 90 * size.distances,
    identities=(
        Identity("points of a pair differ by d along the normal", ("distances", "distance_witness"), _apart),
    ),
    needs=(PAIRS,),
    measure=_MEASURE,
)

DISTANCE_SOFTMIN: Final = Function(
    Signature(
        "distance_softmin",
        _INPUTS,
        (Argument("s", "values", ("ngroups",), "m", "the smooth minimum of the distances of each group"),),
    ),
    "smooth minimum of the distances of each group",
    _forms(softmin.softmin, _SOURCE),
    operations=lambda size: 60 * size.bodies + 95 * size.distances,
    along=_along(softmin.softmin_rates),
    only_along=True,
    needs=(PAIRS,),
    measure=_MEASURE,
)

DISTANCE_SOFTMIN_GRADIENT: Final = Function(
    Signature(
        "distance_softmin_gradient",
        _INPUTS,
        (Argument("G", "columns", ("ngroups", "nv"), "m/rad, m/m", "the gradient of each smooth minimum"),),
    ),
    "gradients of the smooth minima of distances",
    _forms(softmin.softmin_gradient, _WRENCHES),
    operations=_operations_of_gradient,
    derivative_of="distance_softmin",
    needs=(PAIRS,),
    measure=_MEASURE,
)

ROWS: Final = (
    DISTANCES,
    DISTANCE_JACOBIAN,
    DISTANCE_WITNESS,
    DISTANCE_SOFTMIN,
    DISTANCE_SOFTMIN_GRADIENT,
)
