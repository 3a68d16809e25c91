"""Obstacles in calls from Python: refuses those that have no meaning, and fills up arrays that are shorter
than those that the C reads.

The default of such an argument is a row of an unused obstacle for each of its rows. Its negative elements are
where a radius or half an edge belongs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..errors import ArrayValueError
from ..signature import OBSTACLES, SizedArgument, SizedSignature
from .arrays import is_lazy
from .plausible import numbers_of

UNIT: Final = 1e-6
"""The largest error of the length of a normal."""


def has_obstacles(signature: SizedSignature) -> bool:
    """Whether a function takes obstacles."""
    return any(x.kind in OBSTACLES for x in signature.inputs)


def refuses_obstacles(
    signature: SizedSignature, arrays: Sequence[Any], named: Mapping[str, Any], stacklevel: int
) -> None:
    """Refuses obstacles that have no meaning, with one line. Arguments that are no arrays are ignored; the
    call refuses them.
    """
    del stacklevel
    for k, argument in enumerate(signature.inputs):
        given = arrays[k] if k < len(arrays) else named.get(argument.name)
        if argument.kind in OBSTACLES and given is not None and not is_lazy((given,)):
            rows = numbers_of(given)
            if rows.ndim > 1 and rows.shape[-1] == argument.shape[-1]:
                _check(f"{signature.name}: {argument.name}", argument, rows)


def completed(
    signature: SizedSignature, arrays: Sequence[Any], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with unused obstacles at the end of arrays that have fewer rows."""
    by_position = list(arrays)
    by_name = dict(named)
    for k, argument in enumerate(signature.inputs):
        if argument.kind not in OBSTACLES:
            continue
        if k < len(by_position):
            by_position[k] = _filled(argument, by_position[k])
        elif argument.name in by_name:
            by_name[argument.name] = _filled(argument, by_name[argument.name])
    return tuple(by_position), by_name


def _filled(argument: SizedArgument, given: Any) -> Any:
    if is_lazy((given,)):
        return given
    most, width = argument.shape
    rows = numbers_of(given)
    if isinstance(given, (list, tuple)) and not given:
        rows = np.empty((0, width))
    if rows.ndim < 2 or rows.shape[-1] != width or rows.shape[-2] >= most:
        return given
    assert argument.default is not None
    unused = np.array(argument.default[:width])
    filled = np.empty((*rows.shape[:-2], most, width))
    filled[...] = unused
    filled[..., : rows.shape[-2], :] = rows
    return filled


def _check(where: str, argument: SizedArgument, rows: np.ndarray[Any, Any]) -> None:
    """Checks the rows of all states."""
    count, most = rows.shape[-2], argument.shape[0]
    if count > most:
        what = f"{where} has {count} rows, and the function was generated for {most}"
        raise ArrayValueError(f"{what}; pass fewer, or generate it for {argument.name}={count}")
    flat = rows.reshape(-1, rows.shape[-1])
    if not np.isfinite(flat).all():
        row, k = np.argwhere(~np.isfinite(flat))[0]
        raise ArrayValueError(f"{where}[{row % count}, {k}] is {flat[row, k]}; pass a finite number")
    assert argument.default is not None
    unused = np.array(argument.default[: rows.shape[-1]])
    if argument.kind == "outward_planes":
        lengths = np.linalg.norm(flat[:, :3], axis=-1)
        wrong = np.abs(lengths - 1) > UNIT
        if wrong.any():
            row = int(np.argmax(wrong))
            what = f"{where}[{row % count}] has a normal of length {lengths[row]:.7g}"
            raise ArrayValueError(f"{what}; scale normals to length 1")
        return
    sizes = flat[:, unused < 0]
    wrong = ((sizes < 0) & (sizes != unused[unused < 0])).any(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = f"{where}[{row % count}] has the negative size {sizes[row].min():g}"
        raise ArrayValueError(f"{what}; pass a radius, or half an edge, that is not negative")
