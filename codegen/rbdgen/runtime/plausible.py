"""Warns of configurations that are valid numbers but look like a mistake, once for each kind of mistake."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, pi
from typing import Any, Final

import numpy as np

from ..errors import StateWarning
from ..signature import SizedSignature
from .arrays import is_lazy
from .configuration import Manifold
from .space import JointCoordinates

Array = np.ndarray[Any, Any]

Look = Callable[[SizedSignature, Sequence[Any], Mapping[str, Any], int], None]
"""Checks the arguments of a call, given by position and by name. The last argument is the `stacklevel` of
warnings."""

NORM: Final = 1e-3
"""The largest error of the norm of a quaternion that gives no warning. Arithmetic in float and integrators
cause such errors."""

TURNS: Final = 4
"""The number of full turns beyond which the position of a joint without limits looks like degrees."""

BEYOND: Final = 1e-9
"""The largest excess of a position over a limit that counts as rounding, in rad or m. For limits above 1 it
is relative to the limit."""


class Plausible:
    """Checks the configurations that are passed to the functions of one library.

    It warns of quaternions whose norm is not 1, of quaternions in the order w x y z, of angles that look like
    degrees, and of positions outside the limits. Each kind gives one warning, for its first occurrence.
    """

    def __init__(self, manifold: Manifold, joints: Sequence[Mapping[str, Any]]) -> None:
        self._manifold = manifold
        self._limits = {row["name"]: (row.get("lower"), row.get("upper")) for row in joints}
        self._told: set[str] = set()
        ends = [end for joint in manifold.joints for end in self._ends(joint)]
        self._least, self._most = np.array(ends).reshape(-1, 2).T
        self._quaternions = [slice(at, at + 4) for at in manifold.quaternions]

    def look(
        self, signature: SizedSignature, arrays: Sequence[Any], named: Mapping[str, Any], stacklevel: int
    ) -> None:
        """Warns of configurations that look wrong.

        Arguments that cannot be read are ignored; the call refuses them.
        """
        for k, argument in enumerate(signature.inputs):
            given = arrays[k] if k < len(arrays) else named.get(argument.name)
            if argument.kind != "configuration" or given is None or is_lazy((given,)):
                continue  # each block of a Dask array is checked when it is computed
            q = numbers_of(given)
            if q.shape[q.ndim - 1 :] == (self._manifold.nq,) and q.size:
                states = q.reshape(-1, self._manifold.nq)
                self.tell(f"{signature.name}: {argument.name}", states, stacklevel + 1)

    def tell(self, where: str, q: Array, stacklevel: int = 1) -> None:
        """Warns of values of q (states, nq) that look wrong; `where` names q in the messages."""
        if self._is_plain(q):
            return
        for kind, message in self._mistakes(q, where):
            if kind not in self._told:
                self._told.add(kind)
                warnings.warn(message, StateWarning, stacklevel=stacklevel + 1)

    def _ends(self, joint: JointCoordinates) -> list[tuple[float, float]]:
        """The smallest and the largest plausible value of each element of q of a joint."""
        if joint.nq > 1:
            first = joint.space.quaternions
            return [(NORM - 1, 1 - NORM) if k in first else (-inf, inf) for k in range(joint.nq)]
        lower, upper = self._limits.get(joint.name, (None, None))
        most = 2 * pi if joint.space.elements == ("angle",) else inf
        return [(-most if lower is None else lower, most if upper is None else upper)]

    def _is_plain(self, q: Array) -> bool:
        """Whether all elements are plausible. This quick check looks at all of them at once."""
        if not ((q >= self._least) & (q <= self._most)).all():
            return False
        squares = (np.einsum("ij,ij->i", q[:, own], q[:, own]) for own in self._quaternions)
        return all((np.abs(square - 1) <= NORM).all() for square in squares)

    def _mistakes(self, q: Array, name: str) -> Iterator[tuple[str, str]]:
        """The kinds of mistakes in q (states, nq), with messages."""
        for joint in self._manifold.joints:
            for first in joint.quaternions:
                yield from _of_quaternion(joint, first, q, name)
            if joint.nq == 1:
                lower, upper = self._limits.get(joint.name, (None, None))
                yield from _of_position(joint, q[:, joint.idx_q], name, lower, upper)


def numbers_of(given: Any) -> Array:
    """The argument as an array of doubles; empty if it is not an array of real numbers."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError, BufferError):
        return np.empty(0)
    if array.dtype.kind not in "fiub":
        return np.empty(0)
    with np.errstate(all="ignore"):
        return array.astype(float, copy=False)


def _of_quaternion(joint: JointCoordinates, first: int, q: Array, name: str) -> Iterator[tuple[str, str]]:
    where = f"{name}[{first}:{first + 4}], the quaternion of '{joint.name}',"
    quaternions = q[:, first : first + 4]
    norms = np.linalg.norm(quaternions, axis=-1)
    wrong = norms[np.abs(norms - 1) > NORM]
    if wrong.size:
        remedy = "lib.normalize(q) scales it" if wrong[0] > 0 else "lib.neutral() has (0, 0, 0, 1)"
        yield (
            "norm" if wrong[0] > 0 else "zero",
            f"{where} has the norm {wrong[0]:.4g} and must have 1; {remedy}",
        )
    if np.any((np.abs(quaternions[:, 0]) > 1 - NORM) & (np.abs(norms - 1) <= NORM)):
        yield (
            "order",
            f"{where} is about (1, 0, 0, 0), half a turn about x; its order is x y z w, and "
            "(0, 0, 0, 1) is no turn",
        )


def _of_position(
    joint: JointCoordinates, positions: Array, name: str, lower: float | None, upper: float | None
) -> Iterator[tuple[str, str]]:
    where = f"{name}[{joint.idx_q}], the position of '{joint.name}',"
    limited = lower is not None or upper is not None
    if joint.space.elements == ("angle",):
        most = 2 * pi * (1 if limited else TURNS)
        farthest = max(most, -most if lower is None else -lower, -most if upper is None else upper)
        turned = positions[np.isfinite(positions) & (np.abs(positions) > farthest)]
        if turned.size:
            yield "degrees", f"{where} is {turned[0]:.4g} and looks like degrees; pass rad"
            return
    for limit, sign in ((lower, -1), (upper, 1)):
        if limit is None:
            continue
        outside = positions[sign * (positions - limit) > BEYOND * max(1, abs(limit))]
        if outside.size:
            side = "below its lower" if sign < 0 else "above its upper"
            yield (
                "limits",
                f"{where} is {outside[0]:.4g}, {side} limit {limit:.4g}; functions do not enforce it",
            )
