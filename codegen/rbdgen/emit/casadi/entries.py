"""The data from which the C file of a CasADi function is printed: entry points, their arrays and their
tables.

CasADi passes to each entry point its inputs, the array `res` of its results, and a work array `w`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import wrap
from typing import TypeAlias

from rbdgen.emit.coordinates import elements_of, to_coordinates
from rbdgen.graph.node import Graph
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedSignature

Pattern: TypeAlias = Mapping[tuple[str, str], Sequence[tuple[int, int]]]
"""The derivatives that may be other than 0, by the names of two arrays. Each is a pair of an element of the
first array and the element of the second by which it is differentiated.
"""


@dataclass(frozen=True)
class Callee:
    """A function of the folder that CasADi functions call."""

    signature: SizedSignature
    batch: bool
    """Whether it can compute many states at once."""
    dependence: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    """For a product with derivatives, the elements of each output that depend on each direction, as in
    `FunctionSource`.
    """


@dataclass(frozen=True)
class Subject:
    """A function, and the functions of the folder that compute its derivatives, each None if it does not
    exist.
    """

    value: Callee
    """The function itself."""
    derivatives: Callee | None = None
    """All its Jacobians at once, perhaps with its value: a function of the table, NAME_jacobian or
    NAME_gradient.
    """
    vjp: Callee | None = None
    """Products of weights with its Jacobians. This and the next two differentiate by the elements of q."""
    jvp: Callee | None = None
    """Products of its Jacobians with rates."""
    hvp: Callee | None = None
    """Products of second derivatives."""
    hessian: Callee | None = None
    """NAME_hessian, all its second derivatives at once."""


@dataclass(frozen=True)
class Place:
    """The robot to which the functions belong."""

    name: str
    """The prefix of its names in C."""
    of: str
    """A description for comments."""
    version: str
    """The version of rbdgen, for comments."""
    manifold: Manifold

    @cached_property
    def to_coordinates(self) -> Graph:
        """The graph that converts a row of derivatives from the tangent space of q to the elements of q."""
        return to_coordinates(self.manifold)

    @cached_property
    def elements(self) -> list[list[int]]:
        """The elements of q on whose rates each element of the tangent space depends."""
        return elements_of(self.to_coordinates, self.manifold)

    @property
    def macro(self) -> str:
        """The prefix of the robot's macros."""
        return self.name.upper()


@dataclass(frozen=True)
class Input:
    """An input of an entry point, as CasADi passes it."""

    name: str
    """The name of the input in CasADi."""
    local: str
    """The name of the input in C."""
    sparsity: int
    """The number of the table with its sparsity."""
    size: int
    """The number of elements that C stores per state."""
    held: int
    """The number of numbers that CasADi holds per state."""
    places: int | None = None
    """The number of the table that maps CasADi's numbers to C's, or None if the order is the same."""
    taken: bool = True
    """Whether C reads it."""
    differentiable: bool = True
    room: int = 0
    """The place in `w` of its copy by rows, or of zeros if CasADi passes no array."""


@dataclass(frozen=True)
class Passed:
    """An argument of a C function: the array, and the distance between the numbers of two states."""

    array: str
    step: int


@dataclass(frozen=True)
class Array:
    """An output of a C function."""

    name: str
    size: int
    """The number of its elements per state."""
    room: int
    """The place of the array in `w`."""
    direct: int | None = None
    """The CasADi result that is this array without change, or None."""


@dataclass(frozen=True)
class Call:
    """A call of a C function."""

    symbol: str
    batch: bool
    passed: tuple[Passed, ...]
    arrays: tuple[Array, ...]
    apart: bool = False
    """Whether its results stay SIMD vectors, with one state per lane."""
    count: int | None = None
    """The number of states of a batch, or None if it is a variable of the C."""


@dataclass(frozen=True)
class Result:
    """A result of an entry point, as CasADi receives it."""

    name: str
    sparsity: int
    """The number of the table with its sparsity."""
    held: int
    """The number of numbers that CasADi holds per state."""
    array: Array | None = None
    """The array from which it is taken. None if it is all zeros or the result of `Products`."""
    size: int = 0
    places: int = 0
    """The number of the table that maps CasADi's numbers to those of the array."""
    rows: int = 0
    """The rows of a Jacobian that are first converted from the tangent space of q, else 0."""
    q: str = ""
    """The name of a configuration, if there are such rows."""
    room: int = 0
    """The place in `w` of the converted rows."""


@dataclass(frozen=True)
class Placed:
    """Numbers of a result that are taken from the outputs of products, direction by direction."""

    result: int
    """The number of the result."""
    array: str
    """The output of the products."""
    size: int
    """The number of elements of the output per state."""
    held: int
    """The number of elements of the result that are placed."""
    ends: int
    """The number of the table that says where each direction begins and ends in the next two tables."""
    to: int
    """The number of the table of places in the result."""
    of: int
    """The number of the table of places in the output."""


@dataclass(frozen=True)
class Lengths:
    """The change of a gradient that is caused by changes of the lengths of quaternions.

    `q`, `rates` and `gradient` are arrays, each with the distance between the numbers of two states.
    """

    column: str
    """The array of changes of the gradient, to which the C adds."""
    q: Passed
    """The configuration."""
    rates: Passed
    """The rates of the configuration."""
    gradient: Passed


@dataclass(frozen=True)
class Products:
    """Products with derivatives along several directions, one after the other or `together` as states of a
    batch.
    """

    seeds: str
    """The C array of seeds, of which each direction sets some to 1 and the others to 0."""
    size: int
    """The number of seeds per direction."""
    room: int
    """The place of the array in `w`."""
    count: int
    """The number of directions."""
    ends: int
    """The number of the table that says where each direction begins and ends in the next table."""
    ones: int
    """The number of the table of the seeds that are 1."""
    calls: tuple[Call, ...]
    """The calls for every direction."""
    placed: tuple[Placed, ...]
    before: Call | None = None
    """The call that is made once, before all directions, or None."""
    lengths: tuple[Lengths, ...] = ()
    together: bool = False


@dataclass(frozen=True)
class Entry:
    """An entry point: a C function that CasADi finds by its name. It computes `states` states at a time."""

    symbol: str
    inputs: tuple[Input, ...]
    call: Call | None
    results: tuple[Result, ...]
    states: int
    work: int
    products: tuple[Products, ...] = ()


@dataclass
class Tables:
    """The tables of integers in a file, where equal tables are stored once."""

    lists: list[tuple[int, ...]] = field(default_factory=list)

    def number(self, values: Sequence[int]) -> int:
        """The number of the table with these values, which is added if it is new."""
        found = tuple(values)
        if found not in self.lists:
            self.lists.append(found)
        return self.lists.index(found)

    @property
    def lines(self) -> list[list[str]]:
        """The text of every table."""
        return [wrap(", ".join(map(str, values or (0,))), 110) for values in self.lists]
