"""`rbdgen.Inertia`: the inertia of one rigid body, or of many, as ten parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.inertia.apply import Array, applied, as_array, as_floats
from rbdgen.inertia.operations import (
    CENTER,
    DIFFERENCE,
    FROM_CENTER_OF_MASS,
    FROM_LOG_CHOLESKY,
    FROM_MATRIX,
    INERTIA,
    OPERATIONS,
    ROTATION,
    SUM,
    TO_LOG_CHOLESKY,
    Operation,
)
from rbdgen.inertia.physical import (
    ROUNDING,
    Factor,
    Principal,
    check_mass,
    excess,
    factor,
    principal,
    tolerance_of,
)

STRUCTURE = 1e-9
"""The largest deviation of a given matrix from its required form, relative to its largest entry."""

ORTHONORMAL = 1e-6
"""The largest deviation of R R^T from 1 for a given rotation."""


class Inertia:
    """The inertia of rigid bodies in ten parameters; I of Featherstone 2008, section 2.13.

    `parameters`, shape (..., 10), has m, m c, Ixx Ixy Iyy Ixz Iyz Izz about the origin of the body's frame,
    in its axes, in kg, kg m, kg m^2. This is the order of Pinocchio's `toDynamicParameters()`. Leading axes
    are bodies. The elements are numbers (float32 or float64), or symbols (CasADi, SymPy) or fractions in an
    array of objects.

    All methods compute in the type of `parameters`, and the leading axes of all arguments broadcast. Errors
    are a few units of rounding of the largest entry. If the origin is far away, digits of the inertia about
    the centre of mass are lost: for a body of 0.3 m at a distance of 100 m, `about_center` is 1e-11 off in
    float64 and 2e-2 in float32.

    A frame is placed in its parent by R and p: r' = R r + p. Motions and forces are [linear, angular]. `out`
    is an array of the result's shape and type to write to; it may be `parameters` itself (in place).

    Raises:
        ArrayValueError: a wrong shape, or a number that is not finite; also in all methods.
        ArrayTypeError: neither numbers nor symbols; also in all methods.
    """

    __slots__ = ("parameters",)

    def __init__(self, parameters: object) -> None:
        """An array of float32 or float64 is used as it is, without a copy."""
        self.parameters: Array = as_floats(as_array("Inertia", INERTIA.sized({}), parameters))

    @classmethod
    def from_center_of_mass(cls, mass: object, center: object, about_center: object) -> Inertia:
        """The inertia with mass (...), centre of mass c (..., 3) and rotational inertia J_c (..., 3, 3).

        J_c is about c, in axes parallel to the frame's. J = J_c - m [c x]^2 (parallel axis theorem).
        """
        (_, _, argument) = FROM_CENTER_OF_MASS.signature.inputs
        given = as_array("from_center_of_mass", argument.sized({}), about_center)
        _check_same("from_center_of_mass", "about_center", given, np.swapaxes(given, -1, -2), "symmetric")
        return cls._made(FROM_CENTER_OF_MASS, mass, center, given)

    @classmethod
    def from_matrix(cls, matrix: object) -> Inertia:
        """The inertia with the matrix (..., 6, 6) in [linear, angular]: [[m 1, -h x], [h x, J]], h = m c."""
        (argument,) = FROM_MATRIX.signature.inputs
        given = as_array("from_matrix", argument.sized({}), matrix)
        made = cls._made(FROM_MATRIX, given)
        _check_same("from_matrix", "matrix", given, made.to_matrix(), "[[m 1, -h x], [h x, J]]")
        return made

    @classmethod
    def from_pseudo_inertia(cls, pseudo_inertia: object) -> Inertia:
        """The inertia of [[Sigma, h], [h^T, m]] (..., 4, 4); Sigma = tr(J)/2 1 - J (Wensing et al. 2018)."""
        operation = OPERATIONS["from_pseudo_inertia"]
        (argument,) = operation.signature.inputs
        given = as_array("from_pseudo_inertia", argument.sized({}), pseudo_inertia)
        _check_same(operation.name, argument.name, given, np.swapaxes(given, -1, -2), "symmetric")
        return cls._made(operation, given)

    @classmethod
    def from_log_cholesky(cls, log_cholesky: object) -> Inertia:
        """The inertia with alpha, d1 d2 d3, s12 s23 s13, t1 t2 t3 (..., 10): it is always physical.

        The order is Pinocchio's. The pseudo-inertia is U U^T (Rucker, Wensing, RA-L 2022) with U = e^alpha
        [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]].
        """
        return cls._made(FROM_LOG_CHOLESKY, log_cholesky)

    @classmethod
    def from_ksl(cls, parameters: object) -> Inertia:
        """The inertia with KSL's `ksl_inertia_t` (..., 10): m, m c, Ixx Iyy Izz Ixy Iyz Izx about c.

        KSL is the Kinematics and Dynamics Solver Library. Its moments are about the centre of mass, in the
        axes of the frame.
        """
        operation = OPERATIONS["from_ksl"]
        given = as_array("from_ksl", operation.signature.inputs[0].sized({}), parameters)
        check_mass("from_ksl", given)
        return cls._made(operation, given)

    # ---- its values

    def __repr__(self) -> str:
        return f"Inertia({self.parameters!r})"

    def __getitem__(self, index: Any) -> Inertia:
        """The inertias of some bodies, by an index of the leading axes."""
        shape = self.shape
        try:
            rows = np.arange(int(np.prod(shape))).reshape(shape)[index]
        except IndexError as error:
            raise ArrayValueError(f"Inertia: {error}; its leading axes are {shape}") from error
        return self._of(self.parameters.reshape(-1, 10)[rows])

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.parameters.shape[:-1]

    @property
    def mass(self) -> Any:
        """m, (...), kg."""
        return self.parameters[..., 0][()]

    @property
    def first_moment(self) -> Array:
        """h = m c, (..., 3), kg m."""
        return self.parameters[..., 1:4]

    @property
    def rotational(self) -> Array:
        """J about the origin, (..., 3, 3), kg m^2."""
        return self.parameters[..., [[4, 5, 7], [5, 6, 8], [7, 8, 9]]]

    @property
    def center(self) -> Array:
        """The centre of mass c = h / m, (..., 3), m; ArrayValueError if m is 0."""
        check_mass("center", self.parameters)
        return applied(CENTER, self.parameters)

    @property
    def about_center(self) -> Array:
        """J_c about the centre of mass, in the frame's axes: (..., 3, 3), kg m^2; errors as in `center`."""
        return self.to_ksl()[..., [[4, 7, 9], [7, 5, 8], [9, 8, 6]]]

    def astype(self, dtype: npt.DTypeLike) -> Inertia:
        """Convert the inertia to float32 or float64."""
        if dtype not in (np.float32, np.float64, "float32", "float64"):
            raise ArrayTypeError(f"astype: {dtype!r} is not a type for inertias; take float32 or float64")
        return Inertia(self.parameters.astype(dtype))

    def to_matrix(self) -> Array:
        """The 6 x 6 matrix (..., 6, 6) of [linear, angular]: [[m 1, -h x], [h x, J]]."""
        return self._result("to_matrix")

    def to_pseudo_inertia(self) -> Array:
        """[[Sigma, h], [h^T, m]], (..., 4, 4), Sigma = tr(J)/2 1 - J (Wensing, Kim, Slotine 2018)."""
        return self._result("to_pseudo_inertia")

    def to_ksl(self) -> Array:
        """The ten numbers of `from_ksl`, (..., 10); ArrayValueError if m is 0."""
        check_mass("to_ksl", self.parameters)
        return self._result("to_ksl")

    def to_log_cholesky(self) -> Array:
        """The ten numbers of `from_log_cholesky`, (..., 10).

        Raises:
            ArrayValueError: the inertia is not physical, or belongs to a body that lies in a plane.
        """
        if self._numeric:
            self.check()
            if (-excess(self.parameters) <= tolerance_of(self.parameters)).any():
                raise ArrayValueError(
                    "to_log_cholesky: a body lies in a plane, on a line or in a point; a logarithm needs one "
                    "that extends in all directions"
                )
        return applied(TO_LOG_CHOLESKY, self.parameters)

    # ---- sums and changes of frame

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of both bodies together, given in the same frame."""
        if not isinstance(other, Inertia):
            return NotImplemented
        return self._made(SUM, self.parameters, other.parameters)

    def __sub__(self, other: Inertia) -> Inertia:
        """The inertia that is left after the other body, which is a part of this one, is removed. Both are
        given in the same frame."""
        if not isinstance(other, Inertia):
            return NotImplemented
        return self._made(DIFFERENCE, self.parameters, other.parameters)

    def rotated(self, rotation: object, out: Array | None = None) -> Inertia:
        """The inertia in rotated axes: r' = R r with R (..., 3, 3), so h' = R h and J' = R J R^T."""
        return self._changed("rotated", _rotation("rotated", rotation), out=out)

    def translated(self, translation: object, out: Array | None = None) -> Inertia:
        """The inertia in a parallel frame, in which the old origin is at p (..., 3), m."""
        return self._changed("translated", translation, out=out)

    def transformed(self, rotation: object, translation: object, out: Array | None = None) -> Inertia:
        """The inertia in the parent's frame, where R (..., 3, 3) and p (..., 3), m, place this frame."""
        return self._changed("transformed", _rotation("transformed", rotation), translation, out=out)

    def merged(
        self, child: Inertia, rotation: object, translation: object, out: Array | None = None
    ) -> Inertia:
        """The inertia of this body and the child together. R and p place the child's frame in this one."""
        return self._changed(
            "merged", _ten("merged", child), _rotation("merged", rotation), translation, out=out
        )

    def split(
        self, child: Inertia, rotation: object, translation: object, out: Array | None = None
    ) -> Inertia:
        """The inertia that is left after the child is removed from this body; the inverse of `merged`."""
        return self._changed(
            "split", _ten("split", child), _rotation("split", rotation), translation, out=out
        )

    # ---- products with motions

    def times(self, v: object, out: Array | None = None) -> Array:
        """The momentum I v, (..., 6), for the velocity v (..., 6) of the origin, both [linear, angular].

        It is [m v + w x h, h x v + J w] in kg m/s and kg m^2/s, where v is the linear part and w the angular.
        """
        return self._result("times", v, out=out)

    def quadratic(self, v: object, out: Array | None = None) -> Any:
        """v . I v, (...), which is twice the kinetic energy in J at the velocity v (..., 6)."""
        return self._result("quadratic", v, out=out)[()]

    def rate(self, v: object, a: object = None, out: Array | None = None) -> Array:
        """The force for a motion: v x* I v, or with an acceleration I a + v x* I v (Featherstone 2008, eq.
        2.72).

        Args:
            v: velocity (..., 6) of the origin, [linear, angular], m/s, rad/s.
            a: spatial acceleration (..., 6), [linear, angular], m/s^2, rad/s^2: its linear part is the
                classical acceleration of the origin minus w x v.
            out: an array to write to.

        Returns:
            [force, moment about the origin], (..., 6), N, N m.
        """
        if a is None:
            return self._result("rate", v, out=out)
        return self._result("equation_of_motion", v, a, out=out)

    def factor(self) -> Factor:
        """I = F F^T with F = [[a 1, 0], [b x, L]]: the rank, a (...), b (..., 3) and L (..., 3, 3).

        Numbers are factored with pivoting, for any rank: 6, 5 (a rod), 3 (a point), 0 (no mass). For symbols,
        L is lower triangular, of full rank.

        Raises:
            ArrayValueError: a negative mass or principal moment, or moments without a mass.
        """
        if self._numeric:
            return factor(self.parameters)
        ten = applied(OPERATIONS["factored"], self.parameters)
        L = np.zeros((*self.shape, 3, 3), object)
        L[..., [0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]] = ten[..., 4:]
        return Factor(6, ten[..., 0][()], ten[..., 1:4], L)

    # ---- whether it is physical

    def principal(self) -> Principal:
        """Principal moments (..., 3), kg m^2, about the centre of mass, ascending, and axes (..., 3, 3) as
        columns; ArrayValueError if m is 0.
        """
        self._need_numbers("principal")
        return principal(self.parameters)

    def excess(self) -> Any:
        """The distance of the inertia from a physical one, which a body can have: (...), kg m^2.

        It is the largest principal moment about the centre of mass minus the sum of the other two, and at
        most 0 if the inertia is physical. It is infinite for a negative mass, or if the mass is 0 and moments
        are not (Wensing, Kim, Slotine, RA-L 2018).
        """
        self._need_numbers("excess")
        return excess(self.parameters)[()]

    def is_physical(self, tolerance: float | None = None) -> Any:
        """Whether a body can have this inertia: (...), bool. Ten zeros, an empty body, are physical, too.

        `tolerance` is the largest value of `excess` that is accepted, relative to the trace of J. None means
        1e-12, or 64 units of rounding if that is more.
        """
        self._need_numbers("is_physical")
        return (excess(self.parameters) <= tolerance_of(self.parameters, tolerance))[()]

    def check(self, tolerance: float | None = None) -> None:
        """Raises `ArrayValueError`, which states the excess, if the inertia is not physical. The tolerance
        is that of `is_physical`.
        """
        wrong = ~np.asarray(self.is_physical(tolerance))
        if not wrong.any():
            return
        first = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        what = f"Inertia{list(map(int, first))}" if wrong.ndim else "Inertia"
        off, mass = float(np.asarray(self.excess())[first]), float(self.parameters[(*first, 0)])
        if np.isfinite(off):
            raise ArrayValueError(
                f"{what}: violates the triangle inequality: its largest principal moment exceeds the sum of "
                f"the others by {off:.3g} kg m^2; no body can have it"
            )
        why = "is negative" if mass < 0 else "has moments that are not 0"
        raise ArrayValueError(f"{what}: a mass of {mass:.3g} kg {why}; no body can have it")

    # ---- internals

    @property
    def _numeric(self) -> bool:
        return self.parameters.dtype != object

    def _need_numbers(self, caller: str) -> None:
        if not self._numeric:
            raise ArrayTypeError(
                f"{caller}: needs numbers, and the inertia holds symbols; insert values first"
            )

    @classmethod
    def _of(cls, parameters: Array) -> Inertia:
        """An inertia with parameters that are known to be valid."""
        made = cls.__new__(cls)
        made.parameters = parameters
        return made

    @classmethod
    def _made(cls, operation: Operation, *given: object) -> Inertia:
        return cls._of(applied(operation, *given))

    def _result(self, name: str, *given: object, out: Array | None = None) -> Array:
        return applied(OPERATIONS[name], self.parameters, *given, out=out)

    def _changed(self, name: str, *given: object, out: Array | None = None) -> Inertia:
        return self._of(self._result(name, *given, out=out))


def _ten(caller: str, child: object) -> Array:
    """The parameters of another inertia."""
    if not isinstance(child, Inertia):
        raise ArrayTypeError(f"{caller}: the child is a {type(child).__name__}; pass an Inertia")
    return child.parameters


def _rotation(caller: str, rotation: object) -> Array:
    """The rotation as an array. Raises `ArrayValueError` if its numbers are not a rotation."""
    R = as_array(caller, ROTATION.sized({}), rotation)
    if R.dtype != object and R.size:
        given = as_floats(R)
        off = float(np.abs(given @ np.swapaxes(given, -1, -2) - np.eye(3)).max())
        allowed = max(ORTHONORMAL, ROUNDING * float(np.finfo(given.dtype).eps))
        if not off <= allowed:
            raise ArrayValueError(
                f"{caller}: rotation R: R R^T differs from 1 by {off:.1e}; give an orthonormal matrix"
            )
        if (np.linalg.det(given) < 0).any():
            raise ArrayValueError(
                f"{caller}: rotation R is a reflection: its determinant is -1; change the sign of one axis"
            )
    return R


def _check_same(caller: str, name: str, given: Array, other: Array, form: str) -> None:
    """Raises `ArrayValueError` if a matrix of numbers does not have its required form."""
    if given.dtype == object or not given.size:
        return
    given = as_floats(given)
    scale = max(float(np.abs(given).max()), float(np.finfo(given.dtype).tiny))
    off = float(np.abs(given / scale - other / scale).max()) * scale
    if off > max(STRUCTURE, ROUNDING * float(np.finfo(given.dtype).eps)) * scale:
        raise ArrayValueError(f"{caller}: {name} is not {form}: entries differ by {off:.3g}; correct them")
