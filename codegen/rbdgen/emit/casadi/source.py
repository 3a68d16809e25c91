"""The C of one CasADi function: the inputs, the calls and the results of each of its entry points.

CasADi finds the derivatives of NAME by their names: jac_NAME, its Jacobian; adj1_NAME, the product of weights
with it; jac_adj1_NAME, the Jacobian of that product, which is the Hessian of a weighted function;
fwd1_jac_NAME, the change of the Jacobian along a direction; and jac_jac_NAME, the Jacobian of the Jacobian.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rbdgen.emit.casadi.blocks import blocks_of, of_pattern
from rbdgen.emit.casadi.conversion import conversion
from rbdgen.emit.casadi.entries import (
    Array,
    Call,
    Callee,
    Entry,
    Input,
    Passed,
    Place,
    Products,
    Result,
    Subject,
)
from rbdgen.emit.casadi.hessians import derivatives_of_rows
from rbdgen.emit.casadi.matrices import Matrix, matrix_of
from rbdgen.emit.casadi.patterns import second_pattern
from rbdgen.emit.casadi.products import Plan, Seeds, by_columns, by_rows, groups, products_of
from rbdgen.emit.casadi.rooms import Rooms, whole
from rbdgen.emit.text import filled
from rbdgen.errors import EmitError
from rbdgen.signature import BAR, DOT, SizedArgument
from rbdgen.wording import option

MOST_ELEMENTS: Final = 10_000_000
"""The largest number of elements of the inputs and outputs of a call, or of its Jacobian. The C file lists
their rows, and CasADi keeps them in memory.
"""


def casadi_name(robot: str, function: str, knots: int) -> str:
    """The name of a function for `casadi.external`, which differs from that of the C function by its
    suffix."""
    return f"{robot}_{function}_x{knots}"


def casadi_source(place: Place, subject: Subject, knots: int) -> str:
    """The C of a function of CasADi and of its derivatives.

    Raises:
        EmitError: its derivatives are packed but must be converted to derivatives by coordinates, or there
            are too many states for one call.
    """
    _check_size(subject, knots)
    writer = _Writer(place, subject, knots)
    entries = writer.entries()
    results = [result for entry in entries for result in entry.results]
    calls = [call for entry in entries for call in _calls(entry)]
    apart = sorted({call.symbol for call in calls if call.apart})
    element = f"{place.name}_lanes_at"
    return filled(
        "casadi/FUNCTION_KNOTS.c.jinja",
        robot=place,
        function=subject.value.signature.name,
        knots=knots,
        entries=entries,
        sparsities=writer.rooms.sparsities.lines,
        places=writer.rooms.places.lines,
        batch=any(call.batch for call in calls),
        apart=apart,
        lanes=bool(apart),
        element=element if apart else "double",
        by_rows=any(x.places is not None for entry in entries for x in entry.inputs),
        gathered=any(
            result.array is not None and result.array.direct is None
            for entry in entries
            for result in entry.results
            if entry.call is not None and not entry.call.apart
        ),
        rows=conversion(place, element if apart else None) if any(x.rows for x in results) else None,
        manifold=place.manifold,
        quaternions=place.manifold.quaternions,
        lengths=any(products.lengths for entry in entries for products in entry.products),
    )


def _calls(entry: Entry) -> Iterable[Call]:
    yield from filter(None, (entry.call, *(products.before for products in entry.products)))
    for products in entry.products:
        yield from products.calls


def _check_size(subject: Subject, knots: int) -> None:
    signature = subject.value.signature
    takes, gives = (sum(x.size for x in arrays) for arrays in (signature.inputs, signature.outputs))
    derivatives = subject.derivatives or subject.vjp or subject.jvp
    each = takes * gives if derivatives else takes + gives
    if knots * each > MOST_ELEMENTS:
        raise EmitError(
            f"casadi: {knots} states a call of {signature.name} are too many; give knots of "
            f"{max(1, MOST_ELEMENTS // each)} at most, and map the function over more"
        )


class _Writer:
    def __init__(self, place: Place, subject: Subject, knots: int) -> None:
        self.place, self.subject, self.knots = place, subject, knots
        self.symbol = casadi_name(place.name, subject.value.signature.name, knots)
        self.taken = subject.value.signature.inputs
        self.given = subject.value.signature.outputs
        self.rooms = Rooms(place.name, knots)
        self.matrices = {x.name: matrix_of(x) for x in (*self.taken, *self.given)}
        self.blocks = blocks_of(subject, place, self.matrices)
        known = {x for _, x in self.blocks}
        self.by = [x for x in self.taken if x.name in known]
        quaternions = place.manifold.quaternions
        self.lengths = [x for x in self.by if x.kind == "configuration" and quaternions]

    def entries(self) -> list[Entry]:
        """The entry points for which the folder has functions."""
        found, vjp, hvp = [self.value()], self.subject.vjp, self.subject.hvp
        if self.blocks:
            found.append(self.jacobian())
        if self.subject.hessian is not None:
            found.append(self.jacobian_of_jacobian(self.subject.hessian))
        elif vjp is not None:
            found.append(self.adjoint(vjp))
            if hvp is not None and self.blocks:
                found.append(self.second(vjp, hvp))
                found.append(self.jacobian_along(vjp, hvp))
        return found

    def value(self) -> Entry:
        """The entry point of the function itself, y = f(x)."""
        inputs = self._inputs()
        return self._direct(self.symbol, inputs, self.subject.value, [(y.name, y) for y in self.given])

    def adjoint(self, vjp: Callee) -> Entry:
        """The entry point of x_bar = (dy/dx)^T y_bar, which is 0 for inputs that are held constant."""
        inputs = (*self._inputs(), *self._placeholders("out_", self.given), *self._weights())
        found = {x.name: replace(x, nonzero=None) for x in vjp.signature.outputs}
        for x in self.taken:
            gradient = found.get(x.name + BAR)
            if gradient is not None and gradient.shape != x.shape:
                raise EmitError(
                    f"{vjp.signature.name}: CasADi wants {gradient.name} by the coordinates of {x.name}, and "
                    f"not packed; generate with {option('coordinates', True)}, without {option('packed')}"
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
        """An entry point whose results are outputs of one C function.

        Where `wanted` has the name of an input, the result is zeros of the shape of that input.
        """
        states = self.rooms.states(callee.signature.outputs, callee)
        call = self.rooms.call(callee, states, self._arrays())
        arrays = {array.name: array for array in call.arrays}
        results = []
        for k, (name, output) in enumerate(wanted):
            if isinstance(output, str):
                empty = replace(self.matrices[output], entries=())
                results.append(Result(name, self._sparsity(empty.beside(self.knots)), 0))
                continue
            matrix = matrix_of(output)
            if matrix.places == tuple(range(output.size)):
                arrays[output.name] = replace(arrays[output.name], direct=k)
            array, sparsity = arrays[output.name], matrix.beside(self.knots)
            results.append(self._gathered(name, sparsity, matrix, array, output.size, 0, states))
        call = replace(call, arrays=tuple(arrays.values()))
        return self._entry(symbol, inputs, call, results, states)

    def jacobian(self) -> Entry:
        """The entry point of all dy/dx. CasADi is told that inputs without derivatives are constant."""
        inputs = (*self._inputs(), *self._placeholders("out_", self.given))
        states = self._states()
        call = self._derivatives(states)
        results: list[Result] = []
        left = []
        for y in self.given:
            for x in self.taken:
                if self._by_products(y, x):
                    left.append((len(results), y, x))
                results.append(self._jacobian_block(f"jac_{y.name}_{x.name}", y, x, call, states))
        products = self._first(0, left, states)
        return self._entry(f"jac_{self.symbol}", inputs, call, results, states, products)

    def jacobian_of_jacobian(self, hessian: Callee) -> Entry:
        """The entry point of the derivatives of all dy/dx, where y is one number."""
        inputs = (
            *self._inputs(),
            *self._placeholders("out_", self.given),
            *(self._zero_input(f"out_jac_{y.name}_{x.name}", y, x) for y in self.given for x in self.taken),
        )
        states = self.rooms.states(hessian.signature.outputs, hessian)
        call = self.rooms.call(hessian, states, self._arrays(), apart=True)
        results = derivatives_of_rows(self.rooms, self.subject, self.matrices, call)
        return self._entry(f"jac_jac_{self.symbol}", inputs, call, results, states)

    def second(self, vjp: Callee, hvp: Callee) -> Entry:
        """The entry point of all d(x_bar)/dx, and of d(x_bar)/d(y_bar), which is the transposed Jacobian."""
        pattern = second_pattern(self.subject.value.signature, hvp, self.place.manifold)
        inputs = (
            *self._inputs(),
            *self._placeholders("out_", self.given),
            *self._weights(),
            *self._placeholders("out_adj_", self.taken),
        )
        states = self._states(vjp, hvp)
        call, seeds = self._derivatives(states), Seeds.rates(self.by)
        results: list[Result] = []
        left, wanted = [], []
        for x in self.taken:
            for by in self.taken:
                block = self._of_pattern(pattern.get((x.name, by.name), ()), x, by)
                if block.entries:
                    array, first = (x.name + BAR + DOT, x.size), seeds.first[by.name + DOT]
                    wanted.append(by_columns(len(results), array, block, self._of(x, by), first))
                results.append(self._of_block(f"jac_adj_{x.name}_{by.name}", block, x, by))
            results += [self._zero(f"jac_adj_{x.name}_out_{y.name}", x, y) for y in self.given]
            for y in self.given:
                if self._by_products(y, x):
                    left.append((len(results), y, x))
                name = f"jac_adj_{x.name}_adj_{y.name}"
                results.append(self._jacobian_block(name, y, x, call, states, transposed=True))
        plan = Plan(0, seeds, wanted, (hvp,), vjp if self.lengths else None, self.lengths)
        products = products_of(self.rooms, plan, self._arrays(), states)
        products += self._first(1, left, states, transposed=True)
        return self._entry(f"jac_adj1_{self.symbol}", inputs, call, results, states, products)

    def jacobian_along(self, vjp: Callee, hvp: Callee) -> Entry:
        """The entry point of the change of all dy/dx if x changes at the rate x_dot. Each weight gives one
        row.
        """
        blocks = [(y, x, self.blocks.get((y.name, x.name))) for y in self.given for x in self.taken]
        inputs = (
            *self._inputs(),
            *self._placeholders("out_", self.given),
            *(self._zero_input(f"out_jac_{y.name}_{x.name}", y, x) for y, x, _ in blocks),
            *(self.rooms.input(f"fwd_{x.name}", x, x.name + DOT) for x in self.taken),
            *self._placeholders("fwd_out_", self.given),
        )
        states, seeds = self._states(vjp, hvp), Seeds.weights(self.given)
        results, wanted = [], []
        for k, (y, x, found) in enumerate(blocks):
            block = self._of_pattern((), y, x) if found is None else found.matrix
            array = x.name + BAR + DOT, x.size
            if block.entries:
                wanted.append(by_rows(k, array, block, self._of(y, x), seeds.first[y.name + BAR]))
            results.append(self._of_block(f"fwd_jac_{y.name}_{x.name}", block, y, x))
        plan = Plan(0, seeds, wanted, (hvp, vjp) if self.lengths else (hvp,), None, self.lengths)
        products = products_of(self.rooms, plan, self._arrays(), states)
        return self._entry(f"fwd1_jac_{self.symbol}", inputs, None, results, states, products)

    def _entry(
        self,
        symbol: str,
        inputs: Iterable[Input],
        call: Call | None,
        results: Iterable[Result],
        states: int,
        products: tuple[Products, ...] = (),
    ) -> Entry:
        """An entry point, which reads only those of its inputs that its calls receive."""
        entry = Entry(symbol, tuple(inputs), call, tuple(results), states, self.rooms.work, products)
        passed = {x.array for call in _calls(entry) for x in call.passed}
        taken = tuple(replace(x, taken=x.taken and f"x_{x.local}" in passed) for x in entry.inputs)
        return replace(entry, inputs=taken)

    def _first(
        self,
        number: int,
        left: Sequence[tuple[int, SizedArgument, SizedArgument]],
        states: int,
        *,
        transposed: bool = False,
    ) -> tuple[Products, ...]:
        """The products from which blocks of the Jacobian are computed: those by weights or those by rates,
        whichever take fewer directions.

        `left` lists the number of each result, its y and its x.
        """
        plans = []
        for callee in filter(None, (self.subject.vjp, self.subject.jvp)):
            weighted = callee is self.subject.vjp
            seeds = Seeds.weights(self.given) if weighted else Seeds.rates(self.by)
            wanted = []
            for result, y, x in left:
                block = self.blocks[y.name, x.name].matrix
                rows, columns = (x, y) if transposed else (y, x)
                block = block.transposed() if transposed else block
                array = (x.name + BAR, x.size) if weighted else (y.name + DOT, y.size)
                first = seeds.first[y.name + BAR if weighted else x.name + DOT]
                by = by_rows if weighted != transposed else by_columns
                wanted.append(by(result, array, block, self._of(rows, columns), first))
            plans.append(Plan(number, seeds, wanted, (callee,)))
        if not plans:
            return ()
        plan = min(plans, key=lambda plan: len(groups(plan.wanted)))
        return products_of(self.rooms, plan, self._arrays(), states)

    def _of_pattern(self, pairs: Iterable[tuple[int, int]], of: SizedArgument, by: SizedArgument) -> Matrix:
        return of_pattern(pairs, *self._of(of, by))

    def _of(self, *arrays: SizedArgument) -> tuple[Matrix, Matrix]:
        one, other = (self.matrices[x.name] for x in arrays)
        return one, other

    def _by_products(self, y: SizedArgument, x: SizedArgument) -> bool:
        """Whether a block of the Jacobian is computed from products."""
        block = self.blocks.get((y.name, x.name))
        return block is not None and block.derivative is None and bool(block.matrix.entries)

    def _jacobian_block(
        self,
        name: str,
        y: SizedArgument,
        x: SizedArgument,
        call: Call | None,
        states: int,
        *,
        transposed: bool = False,
    ) -> Result:
        """A result that is dy/dx, or its transpose."""
        found = self.blocks.get((y.name, x.name))
        of, by = (x, y) if transposed else (y, x)
        if found is None:
            return self._zero(name, of, by)
        block = found.matrix.transposed() if transposed else found.matrix
        if found.derivative is None:
            return self._of_block(name, block, of, by)
        assert call is not None
        array = next(array for array in call.arrays if array.name == found.derivative.name)
        size = block.size if found.rows else found.derivative.size
        made = self._gathered(name, block.diagonal(self.knots), block, array, size, found.rows, states)
        return replace(made, q=x.name) if found.rows else made

    def _of_block(self, name: str, block: Matrix, of: SizedArgument, by: SizedArgument) -> Result:
        """A result that is filled from products; it is zero if the block has no entries."""
        if not block.entries:
            return self._zero(name, of, by)
        return Result(name, self._sparsity(block.diagonal(self.knots)), len(block.entries))

    def _zero(self, name: str, of: SizedArgument, by: SizedArgument) -> Result:
        """A derivative that is 0, because `of` does not depend on `by`."""
        return Result(name, self._sparsity(self._nothing(of, by)), 0)

    def _zero_input(self, name: str, of: SizedArgument, by: SizedArgument) -> Input:
        """A Jacobian that CasADi passes as an input and that nothing reads."""
        return self.rooms.unread(name, self._nothing(of, by))

    def _nothing(self, of: SizedArgument, by: SizedArgument) -> tuple[int, ...]:
        rows, columns = (matrix.size * self.knots for matrix in self._of(of, by))
        return Matrix(rows, columns, ()).beside(1)

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
        """A result that is gathered from an array with `size` numbers per state, or from its rows in
        coordinates.
        """
        places = 0 if array.direct is not None else self.rooms.places.number(matrix.places)
        held, room = len(matrix.entries), self.rooms.taken(whole(states) * size if rows else 0)
        return Result(name, self._sparsity(sparsity), held, array, size, places, rows, room=room)

    def _sparsity(self, sparsity: Sequence[int]) -> int:
        return self.rooms.sparsities.number(sparsity)

    def _states(self, *callees: Callee) -> int:
        """The number of states that are computed at a time by an entry point that needs the Jacobian."""
        parts = (self.subject.derivatives, self.subject.vjp, self.subject.jvp, *callees)
        used = [callee for callee in parts if callee is not None]
        return self.rooms.states(used[0].signature.outputs, *used)

    def _derivatives(self, states: int) -> Call | None:
        """The call that gives all derivatives at once."""
        if self.subject.derivatives is None:
            return None
        return self.rooms.call(self.subject.derivatives, states, self._arrays(), apart=True)

    def _arrays(self) -> dict[str, Passed]:
        """The arrays that C functions receive, by name: inputs, weights of results and rates of inputs."""
        own = {x.name: x.size for x in self.taken}
        own |= {y.name + BAR: y.size for y in self.given} | {x.name + DOT: x.size for x in self.taken}
        return {name: Passed(f"x_{name}", size) for name, size in own.items()}

    def _inputs(self) -> tuple[Input, ...]:
        """Begins an entry point, and returns the function's own inputs as CasADi passes them."""
        self.rooms.begin()
        moving = {x.name for x in self.by or self.taken}
        return tuple(self.rooms.input(x.name, x, x.name, differentiable=x.name in moving) for x in self.taken)

    def _weights(self) -> tuple[Input, ...]:
        """The weights of the outputs, as CasADi passes them. C stores them by rows under their own names."""
        return tuple(self.rooms.input(f"adj_{y.name}", y, y.name + BAR) for y in self.given)

    def _placeholders(self, prefix: str, arguments: Iterable[SizedArgument]) -> tuple[Input, ...]:
        """Arrays that CasADi passes although nothing reads them. CasADi is told that they are all zeros."""
        return tuple(self.rooms.placeholder(prefix + x.name, x) for x in arguments)
