"""Refuses inputs of steps with friction that have no meaning, such as planes without a unit normal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..errors import ArrayValueError
from ..signature import SizedArgument, SizedSignature
from .arrays import is_lazy
from .plausible import Look, numbers_of

UNIT: Final = 1e-6
"""The largest error of the length of a normal."""

CHECKED: Final = ("planes", "nonnegative", "coefficients", "time_step")
"""The kinds of inputs that are checked."""

SOFTEST: Final = 1e-6
"""The least softness of a contact in float: below it, R is less than the rounding of G."""


def refuses(signature: SizedSignature, dtype: np.dtype[Any]) -> Look | None:
    """The check of the inputs of a function, or None if the function does not depend on the ground.

    NaN is not refused, because it leads to NaN in the outputs. Arguments that cannot be read are ignored; the
    call refuses them.
    """
    if all(argument.kind != "planes" for argument in signature.inputs):
        return None
    checked = [(k, x) for k, x in enumerate(signature.inputs) if x.kind in CHECKED]
    # the law of contact, which begins with the softness, is the first of these numbers that has defaults
    law = next((x for _, x in checked if x.kind == "nonnegative" and x.default is not None), None)

    def look(
        signature: SizedSignature, arrays: Sequence[Any], named: Mapping[str, Any], stacklevel: int
    ) -> None:
        del stacklevel
        for k, argument in checked:
            given = arrays[k] if k < len(arrays) else named.get(argument.name)
            if given is None or (type(given) is float and given > 0) or is_lazy((given,)):
                continue  # each block of a Dask array is checked when it is computed
            plain = type(given) is np.ndarray and given.dtype == dtype
            values = given if plain else numbers_of(given)
            if values.size and values.shape[values.ndim - len(argument.shape) :] == argument.shape:
                where, rows = f"{signature.name}: {argument.name}", values.reshape(-1, *argument.shape[-1:])
                _check(where, argument, rows)
                if argument is law and dtype == np.float32:
                    _check_softness(where, rows[:, 0])

    return look


def _check(where: str, argument: SizedArgument, values: np.ndarray[Any, Any]) -> None:
    """Checks the values of an argument: one number for each state, or a row for each state, or step of it."""
    if argument.kind == "time_step":
        if (values <= 0).any():
            raise ArrayValueError(f"{where} is {values.min():g}; pass a positive time step, in s")
    elif argument.kind != "planes":
        negative = np.argwhere(values.reshape(-1, max(argument.size, 1)) < 0)
        if len(negative):
            k = np.unravel_index(negative[0, 1], argument.shape)
            at, value = ", ".join(map(str, k)), values.reshape(-1, argument.size)[tuple(negative[0])]
            raise ArrayValueError(f"{where}[{at}] is {value:g}; pass a number that is not negative")
    else:
        lengths = np.linalg.norm(values.reshape(-1, 4)[:, :3], axis=-1)
        wrong = np.abs(lengths - 1) > UNIT
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ArrayValueError(
                f"{where} has a normal of length {lengths[row]:.7g}, at the point with the number "
                f"{row % argument.shape[-2]}; scale normals to length 1"
            )


def _check_softness(where: str, softness: np.ndarray[Any, Any]) -> None:
    if (softness < SOFTEST).any():
        least = softness.min()
        raise ArrayValueError(f"{where}[0], the softness, is {least:g}; pass at least {SOFTEST:g} in float")
