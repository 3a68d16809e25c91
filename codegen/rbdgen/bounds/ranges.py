"""Ranges of inputs: those that the user gives, and those of the limits of joints."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rbdgen.description.quoting import escaped, told
from rbdgen.emit.package import RobotFacts
from rbdgen.errors import OptionError, either
from rbdgen.signature import SizedArgument
from rbdgen.wording import choose

Array = npt.NDArray[Any]

_ELEMENT: Final = re.compile(r"(?P<name>\w+)\[(?P<index>[0-9]{1,9})\]", re.ASCII)

_SHARE: Final = re.compile(r"\+-(?P<percent>[^%]+)%", re.ASCII)

_LIMITS: Final = {"velocity": "velocity", "force": "effort"}
"""The limit of a joint that bounds an input of this kind, with both signs."""


class Ranges:
    """The ranges that a user gives, by the name of an input, of one of its elements or of parameters.

    A range is a pair (lowest, highest) of numbers or arrays, or a text: "LOWEST:HIGHEST", or "+-N%" of the
    default of a parameter. Names of parameters may have wildcards, such as `mass:*`.

    Raises OptionError for a range that is not of this form, is empty or infinite, or begins above its end.
    """

    def __init__(
        self, given: Mapping[str, object], inputs: Sequence[SizedArgument], facts: RobotFacts
    ) -> None:
        self._facts = facts
        self._arrays: dict[str, tuple[Array, Array]] = {}
        self._elements: dict[tuple[str, int], tuple[float, float]] = {}
        self._parameters: dict[str, tuple[float, float]] = {}
        sizes = {x.name: x for x in inputs if x.kind not in ("parameters", "table")}
        for name, value in given.items():
            element = _ELEMENT.fullmatch(name)
            if name in sizes:
                self._arrays[name] = _of_array(name, value, sizes[name])
            elif element and element["name"] in sizes:
                index, argument = int(element["index"]), sizes[element["name"]]
                if index >= argument.size:
                    raise OptionError(
                        f"{_said(name)}: {argument.name} has {argument.size} elements; count from 0"
                    )
                self._elements[argument.name, index] = _pair(name, value)
            else:
                self._take_parameters(name, value, sizes)

    def _take_parameters(self, name: str, value: object, inputs: Mapping[str, SizedArgument]) -> None:
        defaults = {x.name: x.default for x in self._facts.parameters}
        found = [one for one in defaults if fnmatchcase(one, name)]
        if not found:
            known = choose(name, [*inputs, *defaults])
            raise OptionError(
                f"{_said(name)}: no input and no parameter of the functions has this name; {known}"
            )
        for one in found:
            self._parameters[one] = _pair(name, value, defaults[one])

    @property
    def parameters(self) -> tuple[Array, Array]:
        """The lowest and the highest values of all parameters that are inputs."""
        pairs = [self._parameters.get(x.name, (x.default, x.default)) for x in self._facts.parameters]
        low, high = np.array(pairs, float).reshape(-1, 2).T
        return low, high

    def of(self, argument: SizedArgument, read: Sequence[int], function: str) -> tuple[Array, Array]:
        """The range of every element of an input. Elements that the function does not read have none.

        Raises OptionError for an element that has neither a given range nor limits.
        """
        if argument.kind == "parameters":
            return self.parameters
        low, high = np.zeros(argument.size), np.zeros(argument.size)
        if argument.name in self._arrays:
            low[:], high[:] = self._arrays[argument.name]
        else:
            known = self._known(argument)
            for k in read:
                pair = self._elements.get((argument.name, k), known.get(k))
                if pair is None or not all(map(math.isfinite, pair)):
                    raise OptionError(self._lacking(argument, k, function))
                low[k], high[k] = pair
        for (name, k), pair in self._elements.items():
            if name == argument.name:
                low[k], high[k] = pair
        return low, high

    def _known(self, argument: SizedArgument) -> dict[int, tuple[float, float]]:
        """The ranges that need not be given, by element."""
        if argument.kind in ("sines", "cosines"):
            return dict.fromkeys(range(argument.size), (-1.0, 1.0))
        if argument.range is not None:
            return dict.fromkeys(range(argument.size), argument.range)
        if argument.default is not None:
            return {k: (value, value) for k, value in enumerate(argument.default)}
        return dict(self._limits(argument))

    def _limits(self, argument: SizedArgument) -> Iterator[tuple[int, tuple[float, float]]]:
        """The limits of joints, and for quaternions all numbers of unit quaternions."""
        if argument.kind == "configuration":
            for first in self._facts.manifold.quaternions:
                yield from ((first + k, (-1.0, 1.0)) for k in range(4))
            for joint in self._facts.joints:
                if joint.lower is not None and joint.upper is not None:
                    yield joint.idx_q, (joint.lower, joint.upper)
        elif argument.kind in _LIMITS and argument.size == self._facts.nv:
            for joint in self._facts.joints:
                limit = getattr(joint, _LIMITS[argument.kind])
                if limit is not None:
                    yield joint.idx_v, (-limit, limit)

    def _lacking(self, argument: SizedArgument, k: int, function: str) -> str:
        index = "idx_q" if argument.kind == "configuration" else "idx_v"
        belongs = argument.kind in ("configuration", "velocity", "acceleration", "force")
        joints = [x.name for x in self._facts.joints if belongs and getattr(x, index) == k]
        of_joint = f" (joint {escaped(joints[0])})" if joints else ""
        give = either(f"{argument.name}=(LOWEST, HIGHEST)", f"--range {argument.name}=LOWEST:HIGHEST")
        return f"{function}: {argument.name}[{k}]{of_joint} has no limits; give {give}"


def _said(name: str) -> str:
    return either(f"the range of {escaped(name)}", f"--range {escaped(name)}")


def _pair(name: str, value: object, default: float | None = None) -> tuple[float, float]:
    """The ends of the range of one number."""
    low, high = _ends(name, value, default)
    if low.size != 1 or high.size != 1:
        raise OptionError(f"{_said(name)}: {told(value)} has arrays; give two numbers")
    return low.item(), high.item()


def _of_array(name: str, value: object, argument: SizedArgument) -> tuple[Array, Array]:
    """The ends of the ranges of all elements of an input."""
    low, high = _ends(name, value, None)
    try:
        shaped = [np.broadcast_to(end, argument.shape).ravel() for end in (low, high)]
    except ValueError:
        shapes = f"{low.shape} and {high.shape}"
        raise OptionError(
            f"{_said(name)}: ends of the shapes {shapes}; give numbers or arrays {argument.shape}"
        ) from None
    return shaped[0], shaped[1]


def _ends(name: str, value: object, default: float | None) -> tuple[Array, Array]:
    """The checked ends of a range."""
    form = either("give (LOWEST, HIGHEST)", "give NAME=LOWEST:HIGHEST")
    if default is not None:
        form += " or '+-N%'"
    try:
        given: Any = _of_text(value, default) if isinstance(value, str) else value
        low, high = given
        ends: list[Array] = [np.asarray(end, float) for end in (low, high)]
    except (TypeError, ValueError):
        raise OptionError(f"{_said(name)}: {told(value)} is no range; {form}") from None
    if not all(np.isfinite(end).all() for end in ends):
        raise OptionError(f"{_said(name)}: {told(value)} is not finite; give finite numbers")
    if not ends[0].size or not ends[1].size:
        raise OptionError(f"{_said(name)}: {told(value)} is empty; {form}")
    try:
        reversed_ends = bool(np.any(ends[0] > ends[1]))
    except ValueError:
        raise OptionError(
            f"{_said(name)}: ends of the shapes {ends[0].shape} and {ends[1].shape}; give equal shapes"
        ) from None
    if reversed_ends:
        raise OptionError(f"{_said(name)}: {told(value)} begins above its end; exchange the two numbers")
    return ends[0], ends[1]


def _of_text(text: str, default: float | None) -> tuple[float, float]:
    """The ends that a text gives. Raises ValueError for a text that is no range."""
    share = _SHARE.fullmatch(text.replace(" ", ""))
    if share and default is not None:
        half = abs(default) * float(share["percent"]) / 100
        return default - half, default + half
    low, colon, high = text.partition(":")
    if not colon:
        raise ValueError(text)
    return float(low), float(high)
