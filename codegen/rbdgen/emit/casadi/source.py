"""The C of one function of CasADi: what each of its entry points takes, calls and gives.

CasADi finds the derivatives of NAME by their names: jac_NAME, its Jacobian; adj1_NAME, the product of weights
with it; jac_adj1_NAME, the Jacobian of that product, which is the Hessian of a weighted function.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rbdgen.emit.casadi.entries import (
    Array,
    Call,
    Callee,
    Columns,
    Direction,
    Entry,
    Input,
    Passed,
    Place,
    Result,
    Subject,
    Tables,
)
from rbdgen.emit.casadi.matrices import (
    Matrix,
    in_coordinates,
    is_flat,
    jacobian_of,
    matrix_of,
    quaternions_of,
)
from rbdgen.emit.names import casadi_name
from rbdgen.emit.text import filled
from rbdgen.errors import EmitError
from rbdgen.signature import BAR, DOT, Kind, SizedArgument

DIFFERENTIATED: Final[tuple[Kind, ...]] = (
    "configuration",
    "velocity",
    "acceleration",
    "force",
    "external_forces",
)
"""What functions of derivatives are by, see `Function.derivative_of`."""

HELD: Final[tuple[Kind, ...]] = ("nonnegative", "parameters", "table")
"""What is constant to CasADi."""

_NEAR: Final = 16 * 1024
"""Bytes of results of C that stay in the nearest caches until CasADi's are made of them."""

_LANES: Final = 8
"""States of a vector, at most."""

MOST_ELEMENTS: Final = 10_000_000
"""Of the inputs and outputs of a call, or of its Jacobian: the C lists their rows, and CasADi holds them."""


def casadi_source(place: Place, subject: Subject, knots: int) -> str:
    """The C of a function of CasADi and of its derivatives.

    Raises:
        EmitError: its derivatives are packed where they must become those by coordinates, or so many
            states do not go into one call.
    """
    _check_size(subject, knots)
    writer = _Writer(place, subject, knots)
    entries = writer.entries()
    turned = any(result.rows for entry in entries for result in entry.results)
    apart = sorted({entry.call.symbol for entry in entries if entry.call.apart})
    return filled(
        "casadi/FUNCTION_KNOTS.c.jinja",
        robot=place,
        function=subject.value.signature.name,
        knots=knots,
        entries=entries,
        sparsities=writer.sparsities.lines,
        places=writer.places.lines,
        batch=any(entry.call.batch for entry in entries),
        apart=apart,
        lanes=bool(apart),
        element=f"{place.name}_lanes_at" if apart else "double",
        by_rows=any(x.places is not None for entry in entries for x in entry.inputs),
        gathered=any(
            result.array is not None and result.array.direct is None and not entry.call.apart
            for entry in entries
            for result in entry.results
        ),
        kinds={joint.kind for joint in place.manifold.joints} if turned else set(),
        manifold=place.manifold,
        quaternions=quaternions_of(place.manifold),
        q=next((x.name for x in subject.value.signature.inputs if x.kind == "configuration"), ""),
    )


def _check_size(subject: Subject, knots: int) -> None:
    signature = subject.value.signature
    takes, gives = (sum(x.size for x in arrays) for arrays in (signature.inputs, signature.outputs))
    each = takes * gives if subject.derivatives else takes + gives
    if knots * each > MOST_ELEMENTS:
        raise EmitError(
            f"casadi: {knots} states a call of {signature.name} are too many; give knots of "
            f"{max(1, MOST_ELEMENTS // each)} at most, and map the function over more"
        )


class _Writer:
    def __init__(self, place: Place, subject: Subject, knots: int) -> None:
        self.place, self.subject, self.knots = place, subject, knots
        self.sparsities, self.places = Tables(), Tables()
        self.symbol = casadi_name(place.name, subject.value.signature.name, knots)
        self.taken = subject.value.signature.inputs
        self.given = subject.value.signature.outputs
        self.work = 0

    def entries(self) -> list[Entry]:
        """All that there are functions for."""
        found, subject = [self.value()], self.subject
        known = all(x.kind in (*DIFFERENTIATED, *HELD) for x in self.taken)
        if subject.derivatives is not None and known:
            found.append(self.jacobian(subject.derivatives))
        if subject.vjp is not None:
            found.append(self.adjoint(subject.vjp))
            if subject.hvp is not None and subject.second is not None and len(found) > 2:
                found.append(self.second(subject.vjp, subject.hvp))
        return found

    def value(self) -> Entry:
        """y = f(x)."""
        inputs = self._inputs()
        return self._direct(self.symbol, inputs, self.subject.value, [(y.name, y) for y in self.given])

    def adjoint(self, vjp: Callee) -> Entry:
        """x_bar = (dy/dx)^T y_bar; that of what is held is 0."""
        inputs = (*self._inputs(), *self._placeholders("out_", self.given), *self._weights())
        found = {x.name: replace(x, nonzero=None) for x in vjp.signature.outputs}
        for x in self.taken:
            gradient = found.get(x.name + BAR)
            if gradient is not None and gradient.shape != x.shape:
                raise EmitError(
                    f"{vjp.signature.name}: CasADi wants {gradient.name} by the coordinates of {x.name}, and "
                    "not packed; generate with --coordinates, without --packed"
                )
        results = [(f"adj_{x.name}", found.get(x.name + BAR, x.name)) for x in self.taken]
        return self._direct(f"adj1_{self.symbol}", inputs, vjp, results)

    def _direct(
        self,
        symbol: str,
        inputs: tuple[Input, ...],
        callee: Callee,
        wanted: Sequence[tuple[str, SizedArgument | str]],
    ) -> Entry:
        """Results that are outputs of C themselves, or zeros of the shape of the input that is named."""
        states = self._states(callee, callee.signature.outputs)
        call = self._call(callee, states)
        arrays = {array.name: array for array in call.arrays}
        results = []
        for k, (name, output) in enumerate(wanted):
            if isinstance(output, str):
                zero = next(x for x in self.taken if x.name == output)
                empty = replace(matrix_of(zero), entries=())
                results.append(Result(name, self.sparsities.number(empty.beside(self._columns(zero))), 0))
                continue
            matrix = matrix_of(output)
            if matrix.places == tuple(range(output.size)):
                arrays[output.name] = replace(arrays[output.name], direct=k)
            array, sparsity = arrays[output.name], matrix.beside(self.knots)
            results.append(self._gathered(name, sparsity, matrix, array, output.size, 0, states))
        call = replace(call, arrays=tuple(arrays.values()))
        return Entry(symbol, inputs, call, tuple(results), states, self.work)

    def jacobian(self, derivatives: Callee) -> Entry:
        """All dy/dx; what is held is told to be constant."""
        inputs = self._inputs()
        states = self._states(derivatives, derivatives.signature.outputs)
        call = self._call(derivatives, states, apart=True)
        blocks = self._blocks(derivatives, call, states, transposed=False)
        results = [blocks[y.name, x.name] for y in self.given for x in self.taken]
        inputs += self._placeholders("out_", self.given)
        return Entry(f"jac_{self.symbol}", inputs, call, tuple(results), states, self.work)

    def second(self, vjp: Callee, hvp: Callee) -> Entry:
        """All d(x_bar)/dx, and by y_bar the transposed Jacobian."""
        derivatives = self.subject.derivatives
        assert derivatives is not None
        inputs = (
            *self._inputs(),
            *self._placeholders("out_", self.given),
            *self._weights(),
            *self._placeholders("out_adj_", self.taken),
        )
        states = self._states(hvp, derivatives.signature.outputs)
        call = self._call(derivatives, states, apart=True)
        blocks = self._blocks(derivatives, call, states, transposed=True)
        products = self._call(hvp, states)
        gradient = None if is_flat(self.place.manifold) else self._call(vjp, states)
        results: list[Result] = []
        columns = {x.name: list[Columns]() for x in self.taken}
        for x in self.taken:
            for by in self.taken:
                block = self._second_block(x, by)
                name = f"jac_adj_{x.name}_{by.name}"
                if block.entries:
                    columns[by.name].append(self._columns_of(len(results), x, by, block))
                    sparsity = self.sparsities.number(block.diagonal(self.knots))
                    results.append(Result(name, sparsity, len(block.entries)))
                else:
                    results.append(self._zero(name, x, by))
            results += [self._zero(f"jac_adj_{x.name}_out_{y.name}", x, y) for y in self.given]
            results += [blocks[y.name, x.name] for y in self.given]
        directions = []
        for x in self.taken:
            if x.name + DOT in {argument.name for argument in hvp.signature.inputs}:
                of_q = x.kind == "configuration"
                room, self.work = self.work, self.work + x.size
                directions.append(Direction(x.name + DOT, x.size, room, tuple(columns[x.name]), of_q))
        return Entry(
            f"jac_adj1_{self.symbol}",
            inputs,
            call,
            tuple(results),
            states,
            self.work,
            products,
            tuple(directions),
            gradient,
        )

    def _second_block(self, x: SizedArgument, by: SizedArgument) -> Matrix:
        """Where the derivative of the gradient by x by another input may be other than 0."""
        assert self.subject.second is not None
        found, one, other = self.subject.second.get((x.name, by.name), ()), matrix_of(x), matrix_of(by)
        entries = ((other.number(column), one.number(row), row) for row, column in found)
        return Matrix(one.size, other.size, tuple(sorted(entries)))

    def _columns_of(self, result: int, x: SizedArgument, by: SizedArgument, block: Matrix) -> Columns:
        """How such a block is made, a column for every element of the other input in the order of C."""
        starts = block.diagonal(1)[2 : 3 + block.columns] if len(block.entries) < block.size else ()
        starts = starts or tuple(range(0, block.size + 1, block.rows))
        numbers = [matrix_of(by).number(k) for k in range(by.size)]
        ends = self.places.number([end for number in numbers for end in starts[number : number + 2]])
        held = len(block.entries)
        return Columns(result, x.name + BAR + DOT, x.size, held, ends, self.places.number(block.places))

    def _blocks(
        self, derivatives: Callee, call: Call, states: int, *, transposed: bool
    ) -> dict[tuple[str, str], Result]:
        """The Jacobian of every output by every input, or its transposes, as results."""
        left, arrays, found = iter(derivatives.signature.outputs), {x.name: x for x in call.arrays}, {}
        for y in self.given:
            for x in self.taken:
                name = f"jac_adj_{x.name}_adj_{y.name}" if transposed else f"jac_{y.name}_{x.name}"
                if x.kind in HELD:
                    found[y.name, x.name] = self._zero(name, *((x, y) if transposed else (y, x)))
                    continue
                derivative = next(left)
                block, rows = self._block(derivative, matrix_of(y), x)
                size = block.size if rows else derivative.size
                block = block.transposed() if transposed else block
                sparsity, array = block.diagonal(self.knots), arrays[derivative.name]
                found[y.name, x.name] = self._gathered(name, sparsity, block, array, size, rows, states)
        return found

    def _zero(self, name: str, of: SizedArgument, by: SizedArgument) -> Result:
        """The derivative of what does not depend on it."""
        rows, columns = (matrix_of(x).size * self._columns(x) for x in (of, by))
        return Result(name, self.sparsities.number(Matrix(rows, columns, ()).beside(1)), 0)

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

    def _gathered(
        self,
        name: str,
        sparsity: Sequence[int],
        matrix: Matrix,
        array: Array,
        size: int,
        rows: int,
        states: int,
    ) -> Result:
        """A result that is made of `size` numbers a state of an array, or of rows of coordinates."""
        places = 0 if array.direct is not None else self.places.number(matrix.places)
        held, room = len(matrix.entries), self.work
        self.work += _whole(states) * size if rows else 0
        return Result(name, self.sparsities.number(sparsity), held, array, size, places, rows, room)

    def _call(self, callee: Callee, states: int, *, apart: bool = False) -> Call:
        """A call of a function of C, with room for what it gives; `apart`: of a batch in vectors."""
        arrays = []
        batch = callee.batch and self.knots > 1
        for output in callee.signature.outputs:
            arrays.append(Array(output.name, output.size, self.work))
            self.work += (_whole(states) if batch and apart else states) * output.size
        steps = {x.name: x.size if self._columns(x) == self.knots else 0 for x in self.taken}
        steps |= {y.name + BAR: y.size for y in self.given}
        passed = (Passed(f"x_{x.name}", steps.get(x.name, 0)) for x in callee.signature.inputs)
        symbol = f"{self.place.name}_{callee.signature.name}"
        return Call(symbol, batch, tuple(passed), tuple(arrays), batch and apart)

    def _inputs(self) -> tuple[Input, ...]:
        """What CasADi passes of the function's own inputs; an entry begins with them."""
        self.work = 0
        return tuple(self._input(x.name, x, x.kind not in HELD) for x in self.taken)

    def _weights(self) -> tuple[Input, ...]:
        """What CasADi passes as weights of the outputs; by rows the C has them under their own names."""
        return tuple(replace(self._input(f"adj_{y.name}", y, True), local=y.name + BAR) for y in self.given)

    def _input(self, name: str, x: SizedArgument, differentiable: bool) -> Input:
        matrix, states, room = matrix_of(x), self._columns(x), self.work
        self.work += states * x.size
        ordered = matrix.places == tuple(range(x.size))
        return Input(
            name,
            x.name,
            self.sparsities.number(matrix.beside(states)),
            x.size,
            len(matrix.entries),
            None if ordered else self.places.number(matrix.places),
            shared=states < self.knots,
            differentiable=differentiable,
            room=room,
        )

    def _columns(self, argument: SizedArgument) -> int:
        """Of how many states CasADi passes an array: all states share the table of parameters."""
        return 1 if argument.kind == "table" else self.knots

    def _placeholders(self, prefix: str, arguments: Iterable[SizedArgument]) -> tuple[Input, ...]:
        """Results that CasADi would hand in again, told to be all zeros, as nobody reads them."""
        made = []
        for x in arguments:
            sparsity = replace(matrix_of(x), entries=()).beside(self._columns(x))
            made.append(Input(prefix + x.name, "", self.sparsities.number(sparsity), 0, 0, taken=False))
        return tuple(made)

    def _states(self, callee: Callee, outputs: Iterable[SizedArgument]) -> int:
        """How many at once: whole vectors, whose results stay in the caches."""
        if not callee.batch or self.knots == 1:
            return 1
        a_state = 8 * sum(output.size for output in outputs)
        return min(self.knots, max(_LANES, _NEAR // a_state // _LANES * _LANES))


def _whole(states: int) -> int:
    """As many as whole vectors have lanes."""
    return -(-states // _LANES) * _LANES
