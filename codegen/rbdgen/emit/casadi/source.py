"""The C of one function of CasADi: what each of its entry points takes, calls and gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final

from rbdgen.emit.casadi.matrices import (
    Matrix,
    in_coordinates,
    is_flat,
    jacobian_of,
    matrix_of,
)
from rbdgen.emit.names import casadi_name
from rbdgen.emit.text import filled
from rbdgen.errors import EmitError
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import Kind, SizedArgument, SizedSignature

DIFFERENTIATED: Final[tuple[Kind, ...]] = (
    "configuration",
    "velocity",
    "acceleration",
    "force",
    "external_forces",
)
"""What derivatives are by, see `Function.derivative_of`."""

_NEAR: Final = 64 * 1024
"""Bytes of results of C that stay in the nearest caches until CasADi's are made of them."""

_LANES: Final = 8


@dataclass(frozen=True)
class Callee:
    """A function of the folder; `batch`: whether many states can be computed at once."""

    signature: SizedSignature
    batch: bool


@dataclass(frozen=True)
class Subject:
    """A function, and the functions of the folder that are its derivatives, None where there is none."""

    value: Callee
    derivatives: Callee | None = None


@dataclass(frozen=True)
class Place:
    """The robot that functions are of. `name`: prefix of its C; `of`, `version`: for comments."""

    name: str
    of: str
    version: str
    manifold: Manifold


@dataclass(frozen=True)
class Input:
    """What CasADi passes: `sparsity` and `places` number tables of the file. `taken`: whether C reads it;
    `shared`: whether one serves all states; `room`: where zeros, or the array by rows, stand in w."""

    name: str
    sparsity: int
    size: int
    held: int
    places: int | None = None
    taken: bool = True
    shared: bool = False
    differentiable: bool = True
    room: int = 0


@dataclass(frozen=True)
class Array:
    """What C gives: as many numbers a state. `direct`: the result of CasADi that it is, None for none."""

    name: str
    size: int
    room: int
    direct: int | None = None


@dataclass(frozen=True)
class Result:
    """What CasADi gets: made of numbers of an `array`, None for one that is all zeros. `rows`: rows of a
    Jacobian whose coordinates are made first, `room`: where in w."""

    name: str
    sparsity: int
    held: int
    array: Array | None
    size: int = 0
    places: int = 0
    rows: int = 0
    room: int = 0


@dataclass(frozen=True)
class Entry:
    """A function that CasADi finds by its name, and the function of C that it calls, `states` at once."""

    symbol: str
    callee: str
    batch: bool
    inputs: tuple[Input, ...]
    arrays: tuple[Array, ...]
    results: tuple[Result, ...]
    states: int
    work: int


class _Tables:
    """Numbers of the file, each list of them once."""

    def __init__(self) -> None:
        self.lists: list[tuple[int, ...]] = []

    def number(self, values: Sequence[int]) -> int:
        """Of the table that holds these."""
        found = tuple(values)
        if found not in self.lists:
            self.lists.append(found)
        return self.lists.index(found)

    @property
    def lines(self) -> list[list[str]]:
        return [wrap(", ".join(map(str, values)), 110) for values in self.lists]


def casadi_source(place: Place, subject: Subject, knots: int) -> str:
    """The C of a function of CasADi and of its derivatives.

    Raises:
        EmitError: its derivatives are packed where they must become those by coordinates.
    """
    writer = _Writer(place, subject, knots)
    entries = [writer.value(), *([] if subject.derivatives is None else [writer.jacobian()])]
    return filled(
        "casadi/FUNCTION_KNOTS.c.jinja",
        robot=place,
        function=subject.value.signature.name,
        knots=knots,
        entries=entries,
        sparsities=writer.sparsities.lines,
        places=writer.places.lines,
        batch=any(entry.batch for entry in entries),
        by_rows=any(x.places is not None for entry in entries for x in entry.inputs),
        gathered=any(result.array and result.array.direct is None for e in entries for result in e.results),
        kinds={joint.kind for joint in place.manifold.joints} if _turns(entries) else set(),
        manifold=place.manifold,
        q=next((x.name for x in subject.value.signature.inputs if x.kind == "configuration"), ""),
    )


def _turns(entries: Iterable[Entry]) -> bool:
    """Whether Jacobians by coordinates are made."""
    return any(result.rows for entry in entries for result in entry.results)


class _Writer:
    def __init__(self, place: Place, subject: Subject, knots: int) -> None:
        self.place, self.subject, self.knots = place, subject, knots
        self.sparsities, self.places = _Tables(), _Tables()
        self.symbol = casadi_name(place.name, subject.value.signature.name, knots)

    def value(self) -> Entry:
        """y = f(x)."""
        signature = self.subject.value.signature
        inputs, work = self._inputs(signature.inputs)
        matrices = list(map(matrix_of, signature.outputs))
        states = self._states(self.subject.value, signature.outputs)
        arrays, results = [], []
        for k, (output, matrix) in enumerate(zip(signature.outputs, matrices, strict=True)):
            same = matrix.places == tuple(range(output.size))
            arrays.append(Array(output.name, output.size, work, k if same else None))
            work += states * output.size
            sparsity = self.sparsities.number(matrix.beside(self.knots))
            at = 0 if same else self.places.number(matrix.places)
            results.append(Result(output.name, sparsity, len(matrix.entries), arrays[-1], output.size, at))
        return self._entry(self.symbol, self.subject.value, inputs, arrays, results, states, work)

    def jacobian(self) -> Entry:
        """All dy/dx; what has no derivative is told to be constant."""
        value, callee = self.subject.value.signature, self.subject.derivatives
        assert callee is not None
        inputs, work = self._inputs(value.inputs)
        derivatives = iter(callee.signature.outputs)
        states = self._states(callee, callee.signature.outputs)
        arrays: dict[str, Array] = {}
        for output in callee.signature.outputs:
            arrays[output.name] = Array(output.name, output.size, work)
            work += states * output.size
        results = []
        for y in value.outputs:
            for x in value.inputs:
                of, by = matrix_of(y), matrix_of(x)
                name = f"jac_{y.name}_{x.name}"
                if x.kind not in DIFFERENTIATED:
                    zero = Matrix(of.size * self.knots, by.size * self._columns(x), ())
                    results.append(Result(name, self.sparsities.number(zero.beside(1)), 0, None))
                    continue
                derivative = next(derivatives)
                block, rows = self._block(derivative, of, x)
                size = block.rows * block.columns if rows else derivative.size
                results.append(
                    Result(
                        name,
                        self.sparsities.number(block.diagonal(self.knots)),
                        len(block.entries),
                        arrays[derivative.name],
                        size,
                        self.places.number(block.places),
                        rows,
                        work,
                    )
                )
                work += states * size if rows else 0
        inputs += tuple(self._placeholder(f"out_{y.name}", matrix_of(y)) for y in value.outputs)
        return self._entry(f"jac_{self.symbol}", callee, inputs, list(arrays.values()), results, states, work)

    def _block(self, derivative: SizedArgument, of: Matrix, x: SizedArgument) -> tuple[Matrix, int]:
        """The Jacobian by an input, and its rows where C has to make coordinates of them."""
        manifold = self.place.manifold
        if x.kind != "configuration" or is_flat(manifold):
            return jacobian_of(derivative, of, matrix_of(x)), 0
        if derivative.dense is not None:
            raise EmitError(
                f"{self.subject.value.signature.name}: packed derivatives of a robot with quaternions are "
                "not for CasADi; leave --packed out"
            )
        tangent = Matrix(manifold.nv, 1, ())
        return in_coordinates(jacobian_of(derivative, of, tangent), manifold), of.size

    def _inputs(self, arguments: Sequence[SizedArgument]) -> tuple[tuple[Input, ...], int]:
        """What CasADi passes of a function's arguments, and the room that they take in w."""
        made, room = [], 0
        for x in arguments:
            matrix, states = matrix_of(x), self._columns(x)
            ordered = matrix.places == tuple(range(x.size))
            made.append(
                Input(
                    x.name,
                    self.sparsities.number(matrix.beside(states)),
                    x.size,
                    len(matrix.entries),
                    None if ordered else self.places.number(matrix.places),
                    shared=states < self.knots,
                    differentiable=x.kind in DIFFERENTIATED,
                    room=room,
                )
            )
            room += states * x.size
        return tuple(made), room

    def _columns(self, argument: SizedArgument) -> int:
        """Of how many states CasADi passes an array: all states share the table of parameters."""
        return 1 if argument.kind == "table" else self.knots

    def _placeholder(self, name: str, matrix: Matrix) -> Input:
        """A result that CasADi would hand in again, told to be all zeros, as nobody reads it."""
        empty = Matrix(matrix.rows, matrix.columns, ())
        return Input(name, self.sparsities.number(empty.beside(self.knots)), 0, 0, taken=False)

    def _states(self, callee: Callee, outputs: Iterable[SizedArgument]) -> int:
        """How many at once: whole vectors, whose results stay in the caches."""
        if not callee.batch or self.knots == 1:
            return 1
        a_state = 8 * sum(output.size for output in outputs)
        return min(self.knots, max(_LANES, _NEAR // a_state // _LANES * _LANES))

    def _entry(
        self,
        symbol: str,
        callee: Callee,
        inputs: tuple[Input, ...],
        arrays: Sequence[Array],
        results: Sequence[Result],
        states: int,
        work: int,
    ) -> Entry:
        name = f"{self.place.name}_{callee.signature.name}"
        batch = callee.batch and self.knots > 1
        return Entry(symbol, name, batch, inputs, tuple(arrays), tuple(results), states, work)
