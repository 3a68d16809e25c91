"""What the file of a function of CasADi is printed from: its entry points, their arrays, their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TypeAlias

from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedSignature

Second: TypeAlias = Mapping[tuple[str, str], Sequence[tuple[int, int]]]
"""By two inputs: which second derivatives may be other than 0, elements of the one and of the other."""


@dataclass(frozen=True)
class Callee:
    """A function of the folder; `batch`: whether many states can be computed at once."""

    signature: SizedSignature
    batch: bool


@dataclass(frozen=True)
class Subject:
    """A function, and the functions of the folder that are its derivatives, None where there is none.

    `second`: of the `hvp`, None where that is not to be used.
    """

    value: Callee
    derivatives: Callee | None = None
    vjp: Callee | None = None
    hvp: Callee | None = None
    second: Second | None = None


@dataclass(frozen=True)
class Place:
    """The robot that functions are of. `name`: prefix of its C; `of`, `version`: for comments."""

    name: str
    of: str
    version: str
    manifold: Manifold

    @property
    def macro(self) -> str:
        """The prefix of its macros."""
        return self.name.upper()


@dataclass(frozen=True)
class Input:
    """What CasADi passes: `sparsity` and `places` number tables of the file. `taken`: whether C reads it,
    `local`: its name there; `shared`: whether one serves all states; `room`: where zeros, or the array by
    rows, stand in w."""

    name: str
    local: str
    sparsity: int
    size: int
    held: int
    places: int | None = None
    taken: bool = True
    shared: bool = False
    differentiable: bool = True
    room: int = 0


@dataclass(frozen=True)
class Passed:
    """An argument of a function of C: the array, and from one state to the next so many numbers."""

    array: str
    step: int


@dataclass(frozen=True)
class Array:
    """What C gives: as many numbers a state. `direct`: the result of CasADi that it is, None for none."""

    name: str
    size: int
    room: int
    direct: int | None = None


@dataclass(frozen=True)
class Call:
    """A function of C with its arguments; `apart`: whether its results stay vectors, a state a lane."""

    symbol: str
    batch: bool
    passed: tuple[Passed, ...]
    arrays: tuple[Array, ...]
    apart: bool = False


@dataclass(frozen=True)
class Result:
    """What CasADi gets: made of numbers of an `array`, None for one that is all zeros, or by directions.

    `rows`: rows of a Jacobian whose coordinates are made first, `room`: where in w.
    """

    name: str
    sparsity: int
    held: int
    array: Array | None = None
    size: int = 0
    places: int = 0
    rows: int = 0
    room: int = 0


@dataclass(frozen=True)
class Columns:
    """A result that is made column by column: of which array, by tables of where columns begin and end, and
    of where its numbers stand in the array."""

    result: int
    array: str
    size: int
    held: int
    ends: int
    places: int


@dataclass(frozen=True)
class Direction:
    """An array of rates, each of which is 1 in turn; `of_q`: whether they are those of the configuration."""

    array: str
    size: int
    room: int
    columns: tuple[Columns, ...]
    of_q: bool


@dataclass(frozen=True)
class Entry:
    """A function that CasADi finds by its name, and what it calls, `states` at once.

    `products`: the call for `directions`; `gradient`: the one for what a quaternion's length adds to them.
    """

    symbol: str
    inputs: tuple[Input, ...]
    call: Call
    results: tuple[Result, ...]
    states: int
    work: int
    products: Call | None = None
    directions: tuple[Direction, ...] = ()
    gradient: Call | None = None


@dataclass
class Tables:
    """Numbers of the file, each list of them once."""

    lists: list[tuple[int, ...]] = field(default_factory=list)

    def number(self, values: Sequence[int]) -> int:
        """Of the table that holds these."""
        found = tuple(values)
        if found not in self.lists:
            self.lists.append(found)
        return self.lists.index(found)

    @property
    def lines(self) -> list[list[str]]:
        """The text of every table."""
        return [wrap(", ".join(map(str, values or (0,))), 110) for values in self.lists]
