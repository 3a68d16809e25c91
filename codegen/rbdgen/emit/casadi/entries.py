"""What the file of a function of CasADi is printed from: its entry points, their arrays, their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TypeAlias

from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedSignature

Pattern: TypeAlias = Mapping[tuple[str, str], Sequence[tuple[int, int]]]
"""By two arrays: which derivatives may be other than 0, elements of the one by elements of the other."""


@dataclass(frozen=True)
class Callee:
    """A function of the folder; `batch`: whether many states can be computed at once; `dependence`: of a
    product with derivatives, which elements depend on which of its directions, see `FunctionSource`."""

    signature: SizedSignature
    batch: bool
    dependence: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """A function, and the functions of the folder that are its derivatives, None where there is none.

    `derivatives`: of all Jacobians at once; `vjp`, `jvp`, `hvp`: products, by the elements of q.
    """

    value: Callee
    derivatives: Callee | None = None
    vjp: Callee | None = None
    jvp: Callee | None = None
    hvp: Callee | None = None


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
    `local`: its name there; `room`: where zeros, or the array by rows, stand in w."""

    name: str
    local: str
    sparsity: int
    size: int
    held: int
    places: int | None = None
    taken: bool = True
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
    """A function of C with its arguments; `apart`: whether its results stay vectors, a state a lane;
    `count`: states of a batch where that is not a variable of the C."""

    symbol: str
    batch: bool
    passed: tuple[Passed, ...]
    arrays: tuple[Array, ...]
    apart: bool = False
    count: int | None = None


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
class Placed:
    """Numbers of a result that come from an array of products.

    `ends`: table of where the numbers of every direction begin and end in the tables `to`, their places in
    the result, and `of`, those in the array.
    """

    result: int
    array: str
    size: int
    held: int
    ends: int
    to: int
    of: int


@dataclass(frozen=True)
class Lengths:
    """What the lengths of quaternions add to changes of a gradient: arrays, and their steps from one state to
    the next. `column`: the changes; `rates`: those of the configuration `q`."""

    column: str
    q: Passed
    rates: Passed
    gradient: Passed


@dataclass(frozen=True)
class Products:
    """Products with derivatives along several directions, one after the other or, `together`, as states of a
    batch.

    `seeds`: the array of C in which some numbers are 1 for every direction, of so many numbers, and where it
    lies in w; `ends`, `ones`: tables of which; `count`: directions. `before`: what is called once, `calls`:
    what is called for every direction.
    """

    seeds: str
    size: int
    room: int
    count: int
    ends: int
    ones: int
    calls: tuple[Call, ...]
    placed: tuple[Placed, ...]
    before: Call | None = None
    lengths: tuple[Lengths, ...] = ()
    together: bool = False


@dataclass(frozen=True)
class Entry:
    """A function that CasADi finds by its name, and what it calls, `states` at once."""

    symbol: str
    inputs: tuple[Input, ...]
    call: Call | None
    results: tuple[Result, ...]
    states: int
    work: int
    products: tuple[Products, ...] = ()


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
