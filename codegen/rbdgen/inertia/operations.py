"""The operations on inertias of ten parameters, each written once over scalars.

On columns of NumPy arrays they compute for many bodies at once, on symbols they give formulas, and on the
scalars of a graph they become C. The mechanics is in `model/inertia.py`; this module only arranges its inputs
and outputs as arrays. KSL is the Kinematics and Dynamics Solver Library, whose moments are about the centre
of mass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rbdgen.model.inertia import Inertia as Body
from rbdgen.model.inertial_parameters import entries, inertia_of, parameters_of
from rbdgen.model.semidefinite import lower_triangular, semidefinite
from rbdgen.runtime.log_cholesky import linear_of, log_cholesky_of
from rbdgen.signature import Argument, Signature
from rbdgen.spatial.ops import IDENTITY, NO_MOTION, Force, Matrix, Motion, Vector, mirrored
from rbdgen.spatial.scalar import Scalar, exp, log, sqrt

Elements: TypeAlias = Sequence[Scalar]
"""The elements of one array, row-major."""

Formula: TypeAlias = Callable[..., list[Scalar]]
"""Maps the elements of every input to those of the output."""


@dataclass(frozen=True)
class Operation:
    """One operation: its inputs, its only output, and the formula between them, with its source."""

    signature: Signature
    summary: str
    formula: Formula
    source: str = ""

    @property
    def name(self) -> str:
        return self.signature.name


def _matrix(nine: Elements) -> Matrix:
    return Matrix(Vector(*nine[:3]), Vector(*nine[3:6]), Vector(*nine[6:]))


def _motion(v: Elements) -> Motion:
    return Motion(Vector(*v[3:]), Vector(*v[:3]))


def _force(f: Force) -> list[Scalar]:
    return [*f.force, *f.moment]


def _moved(ten: Elements, rotation: Elements, translation: Elements) -> Body:
    return inertia_of(ten).turned(_matrix(rotation)).translated(Vector(*translation))


def _from_center_of_mass(mass: Elements, center: Elements, about_center: Elements) -> list[Scalar]:
    return parameters_of(Body.from_center_of_mass(mass[0], Vector(*center), _matrix(about_center)))


def _factored(ten: Elements) -> list[Scalar]:
    a, b, L = inertia_of(ten).factor()
    return [a, *b, *entries(L.T)]


def _factored_any_rank(ten: Elements, tolerance: Elements) -> list[Scalar]:
    found = semidefinite(inertia_of(ten), tolerance[0])
    return [found.a, *found.b, *entries(lower_triangular(found.columns).T)]


def _matrix_of(ten: Elements) -> list[Scalar]:
    body = inertia_of(ten)
    hx = Matrix.skew(body.first_moment)
    upper = [[*a, *b] for a, b in zip(IDENTITY * body.mass, -hx, strict=True)]
    lower = [[*a, *b] for a, b in zip(hx, body.rotational, strict=True)]
    return [x for row in (*upper, *lower) for x in row]


def _from_matrix(matrix: Elements) -> list[Scalar]:
    """The parameters of a matrix that has the required form. Only entries of the lower half are read."""
    row = [matrix[6 * k : 6 * k + 6] for k in range(6)]
    h = (row[5][1], row[3][2], row[4][0])
    return [row[0][0], *h, row[3][3], row[3][4], row[4][4], row[3][5], row[4][5], row[5][5]]


def _pseudo_inertia(ten: Elements) -> list[Scalar]:
    body = inertia_of(ten)
    rows = [[*row, h] for row, h in zip(body.second_moment, body.first_moment, strict=True)]
    return [x for row in (*rows, [*body.first_moment, body.mass]) for x in row]


def _from_pseudo_inertia(pseudo: Elements) -> list[Scalar]:
    rows = [pseudo[4 * k : 4 * k + 4] for k in range(4)]
    sigma = Matrix(*(Vector(*row[:3]) for row in rows[:3]))
    return parameters_of(Body.from_second_moment(rows[3][3], Vector(*(row[3] for row in rows[:3])), sigma))


def _to_ksl(ten: Elements) -> list[Scalar]:
    body = inertia_of(ten)
    xx, xy, yy, xz, yz, zz = entries(body.about_center)
    return [body.mass, *body.first_moment, xx, yy, zz, xy, yz, xz]


def _from_ksl(ksl: Elements) -> list[Scalar]:
    m, hx, hy, hz, xx, yy, zz, xy, yz, zx = ksl
    about_center = mirrored([[xx, xy, zx], [0, yy, yz], [0, 0, zz]])
    return parameters_of(Body.from_first_moment(m, Vector(hx, hy, hz), about_center))


# ---- inputs and outputs

_UNITS: Final = "kg, kg m, kg m^2"
_TEN: Final = "m, m c, Ixx Ixy Iyy Ixz Iyz Izz about the origin"
_KSL: Final = "m, m c, Ixx Iyy Izz Ixy Iyz Izx about the centre of mass"

INERTIA: Final = Argument("inertia", "inertia", (10,), _UNITS, _TEN)
CHILD: Final = Argument("child", "inertia", (10,), _UNITS, f"the other body in its own frame: {_TEN}")
RESULT: Final = Argument("changed", "inertia", (10,), _UNITS, _TEN)
KSL: Final = Argument("ksl", "inertia", (10,), _UNITS, _KSL)
ROTATION: Final = Argument("rotation", "values", (3, 3), "1", "R in r' = R r (+ p), orthonormal")
TRANSLATION: Final = Argument(
    "translation", "values", (3,), "m", "p in r' = R r + p: where the old origin is"
)
VELOCITY: Final = Argument("v", "values", (6,), "m/s, rad/s", "velocity of the origin: linear, angular")
ACCELERATION: Final = Argument(
    "a", "values", (6,), "m/s^2, rad/s^2", "its spatial acceleration: linear, angular"
)
MOMENTUM: Final = Argument("momentum", "values", (6,), "kg m/s, kg m^2/s", "linear, angular about the origin")
FORCE: Final = Argument("force", "values", (6,), "N, N m", "force, moment about the origin")
ENERGY: Final = Argument("twice_energy", "scalar", (), "J", "twice the kinetic energy")
FACTOR: Final = Argument(
    "factor",
    "inertia",
    (10,),
    "kg^1/2, kg^1/2 m",
    "a, b, Lxx Lyx Lyy Lzx Lzy Lzz of F = [[a 1, 0], [b x, L]], I = F F^T",
)
TOLERANCE: Final = Argument(
    "tolerance", "scalar", (), "1", "moments up to this share of Ixx + Iyy + Izz are 0, such as 1e-14"
)
RANK: Final = Argument("rank", "scalar", (), "1", "6, 5 (a rod), 3 (a point), 0 (no mass), or NaN")
MATRIX: Final = Argument("matrix", "values", (6, 6), _UNITS, "[[m 1, -h x], [h x, J]], h = m c")
PSEUDO: Final = Argument("pseudo_inertia", "values", (4, 4), _UNITS, "[[Sigma, h], [h^T, m]]")

OPERATIONS: Final[Mapping[str, Operation]] = {
    row.name: row
    for row in (
        Operation(
            Signature("rotated", (INERTIA, ROTATION), (RESULT,)),
            "the inertia in turned axes: h' = R h, J' = R J R^T",
            lambda ten, R: parameters_of(inertia_of(ten).turned(_matrix(R))),
            "Featherstone 2008, section 2.13",
        ),
        Operation(
            Signature("translated", (INERTIA, TRANSLATION), (RESULT,)),
            "the inertia in a parallel frame, the old origin at p: h' = h + m p",
            lambda ten, p: parameters_of(inertia_of(ten).translated(Vector(*p))),
            "Featherstone 2008, section 2.13",
        ),
        Operation(
            Signature("transformed", (INERTIA, ROTATION, TRANSLATION), (RESULT,)),
            "rotated, then translated",
            lambda ten, R, p: parameters_of(_moved(ten, R, p)),
            "Featherstone 2008, section 2.13",
        ),
        Operation(
            Signature("merged", (INERTIA, CHILD, ROTATION, TRANSLATION), (RESULT,)),
            "two bodies as one, the child's frame placed by R and p",
            lambda ten, child, R, p: parameters_of(inertia_of(ten) + _moved(child, R, p)),
        ),
        Operation(
            Signature("split", (INERTIA, CHILD, ROTATION, TRANSLATION), (RESULT,)),
            "a body without the child, which was a part of it",
            lambda ten, child, R, p: parameters_of(inertia_of(ten) - _moved(child, R, p)),
        ),
        Operation(
            Signature("times", (INERTIA, VELOCITY), (MOMENTUM,)),
            "the momentum I v: m v + w x h, h x v + J w",
            lambda ten, v: _force(inertia_of(ten).apply(_motion(v))),
            "Featherstone 2008, eq. 2.63",
        ),
        Operation(
            Signature("quadratic", (INERTIA, VELOCITY), (ENERGY,)),
            "v . I v: m v.v + 2 w.(h x v) + w.J w",
            lambda ten, v: [inertia_of(ten).quadratic(_motion(v))],
            "Featherstone 2008, section 2.13",
        ),
        Operation(
            Signature("rate", (INERTIA, VELOCITY), (FORCE,)),
            "the rate of momentum at constant v: w x f, w x n + v x f of [f, n] = I v",
            lambda ten, v: _force(inertia_of(ten).equation_of_motion(_motion(v), NO_MOTION)),
            "Featherstone 2008, eq. 2.72",
        ),
        Operation(
            Signature("equation_of_motion", (INERTIA, VELOCITY, ACCELERATION), (FORCE,)),
            "the force that a motion takes: I a, and the rate at constant v",
            lambda ten, v, a: _force(inertia_of(ten).equation_of_motion(_motion(v), _motion(a))),
            "Featherstone 2008, eq. 2.72",
        ),
        Operation(
            Signature("factored", (INERTIA,), (FACTOR,)),
            "I = F F^T of full rank (NaN or infinity for lower ranks)",
            _factored,
        ),
        Operation(
            Signature("factored_any_rank", (INERTIA, TOLERANCE), (FACTOR,)),
            "I = F F^T of any rank, with columns of zeros (NaN if no body can have the inertia)",
            _factored_any_rank,
        ),
        Operation(
            Signature("rank", (INERTIA, TOLERANCE), (RANK,)),
            "the rank of I, with the tolerance of factored_any_rank",
            lambda ten, tolerance: [semidefinite(inertia_of(ten), tolerance[0]).rank],
        ),
        Operation(Signature("to_matrix", (INERTIA,), (MATRIX,)), "the 6 x 6 matrix", _matrix_of),
        Operation(
            Signature("to_pseudo_inertia", (INERTIA,), (PSEUDO,)),
            "the 4 x 4 pseudo-inertia",
            _pseudo_inertia,
            "Wensing, Kim, Slotine, RA-L 2018",
        ),
        Operation(
            Signature("from_pseudo_inertia", (PSEUDO,), (RESULT,)),
            "the ten parameters of a pseudo-inertia",
            _from_pseudo_inertia,
        ),
        Operation(
            Signature("to_ksl", (INERTIA,), (KSL,)), "moments about the centre of mass; m is not 0", _to_ksl
        ),
        Operation(
            Signature("from_ksl", (KSL,), (RESULT,)), "moments about the origin; m is not 0", _from_ksl
        ),
    )
}
"""The operations that are emitted as C, in the order of the header."""

SUM: Final = Operation(
    Signature("add", (INERTIA, INERTIA), (RESULT,)),
    "two bodies as one, given in one frame",
    lambda a, b: parameters_of(inertia_of(a) + inertia_of(b)),
)

DIFFERENCE: Final = Operation(
    Signature("subtract", (INERTIA, INERTIA), (RESULT,)),
    "a body without a part, given in one frame",
    lambda a, b: parameters_of(inertia_of(a) - inertia_of(b)),
)

CENTER: Final = Operation(
    Signature("center", (INERTIA,), (Argument("center", "values", (3,), "m", "c, the centre of mass"),)),
    "the centre of mass",
    lambda ten: list(inertia_of(ten).center),
)

FROM_MATRIX: Final = Operation(
    Signature("from_matrix", (MATRIX,), (RESULT,)), "the ten parameters of a 6 x 6", _from_matrix
)

FROM_CENTER_OF_MASS: Final = Operation(
    Signature(
        "from_center_of_mass",
        (
            Argument("mass", "scalar", (), "kg", "m"),
            Argument("center", "values", (3,), "m", "c, the centre of mass"),
            Argument("about_center", "values", (3, 3), "kg m^2", "J_c, rotational inertia about it"),
        ),
        (RESULT,),
    ),
    "parallel axes",
    _from_center_of_mass,
)

LOG_CHOLESKY: Final = Argument(
    "log_cholesky", "values", (10,), "1, 1, m, m", "alpha, d1 d2 d3, s12 s23 s13, t1 t2 t3"
)

FROM_LOG_CHOLESKY: Final = Operation(
    Signature("from_log_cholesky", (LOG_CHOLESKY,), (RESULT,)),
    "any ten numbers give an inertia that a body can have",
    lambda given: linear_of(given, exp),
    "Rucker, Wensing, RA-L 2022",
)

TO_LOG_CHOLESKY: Final = Operation(
    Signature("to_log_cholesky", (INERTIA,), (LOG_CHOLESKY,)),
    "of a body that does not lie in a plane",
    lambda ten: log_cholesky_of(ten, sqrt, log),
    "Rucker, Wensing, RA-L 2022",
)
