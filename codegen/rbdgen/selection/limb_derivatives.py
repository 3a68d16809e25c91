"""Derivatives along directions with alike limbs as lanes.

A function is traced on the smaller robot on which one limb stands for several, and is differentiated there.
Numbers that the limbs share, such as the velocity of the trunk, are read by the values of all lanes, and
reverse differentiation sums their gradients over the lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from rbdgen.functions.differentiated import MODES, differentiated
from rbdgen.functions.form import Form
from rbdgen.functions.function import Differentiated, Function
from rbdgen.graph.derivatives.forward import rates_of
from rbdgen.graph.derivatives.reverse import gradients, pullback
from rbdgen.graph.derivatives.slopes import Moving
from rbdgen.graph.programs.program import Program
from rbdgen.model.alike_limbs import Limbs
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.selection.limbs import InLimbs, cheapest_traced, read_by
from rbdgen.selection.one_limb import OneLimb
from rbdgen.selection.tangents import moving
from rbdgen.signature import BAR, DOT, Argument, SizedArgument
from rbdgen.spatial.scalar import Scalar


def cheapest_derivative_in_limbs(
    function: Function,
    made: Differentiated,
    model: Model,
    subjects: Iterable[tuple[str, ReducedModel]],
    registers: float,
    most: float,
    *,
    sums: bool,
) -> InLimbs | None:
    """The derivative in limbs with the least work; None if it is more than `most`. `registers` is the number
    of registers that a value takes per lane.
    """
    trace = partial(derivative_in_limbs, function=function, made=made, sums=sums)
    return cheapest_traced(function, model, subjects, registers, most, trace)


def derivative_in_limbs(
    reduced: ReducedModel, limbs: Limbs, function: Function, made: Differentiated, *, sums: bool = True
) -> Program:
    """Trace the derivative with alike limbs as lanes. For `sums`, see `sweeps.inputs.coordinates`."""
    traced = OneLimb(read_by(function, reduced), limbs)
    # the smaller robot has the contacts that the function reads, and no others
    alone = replace(made, of=replace(made.of, contacts=None))
    return _Derivative(traced, replace(function, contacts=None), alone, sums).program()


class _Derivative:
    """A derivative on the smaller robot, with the elements of its inputs by name."""

    def __init__(self, traced: OneLimb, function: Function, made: Differentiated, sums: bool) -> None:
        self.traced, self.function, self.made, self.sums = traced, function, made, sums
        self.builder = traced.tracer.builder
        self.mode = MODES[made.mode]
        self.model = traced.robots[0].model
        sized = function.sized(self.model).inputs
        self.arrays = {x.name: own for x, own in traced.symbols(function.signature.inputs, sized)}
        self.filled = traced.filled()
        self.by = [self._moving(x, own) for x, own in self._inputs(made.of, [x.name for x in made.by])]

    def program(self) -> Program:
        """The program on the whole robot's arrays."""
        along = self.made.of.along
        values = self._by_along(along) if along and along.can_use_limbs else self._of_values()
        if self.mode.seeded and self.mode.moved:  # hvp
            values = [self._rates(bars) for bars in values]
        return self.traced.finished(self.function, values)

    def _inputs(self, of: Function, names: Sequence[str]) -> list[tuple[Argument, SizedArgument]]:
        """These inputs of a function, for all robots and for the smaller one."""
        sized = {x.name: x for x in of.sized(self.model).inputs}
        return [(x, sized[x.name]) for x in of.signature.inputs if x.name in names and x.name in sized]

    def _moving(self, x: Argument, own: SizedArgument) -> Moving:
        return replace(moving(self.model, own, coordinates=False), lanes=self._lanes(_tangent(x)))

    def _lanes(self, shape: Sequence[str | int]) -> frozenset[int]:
        """The elements of an array of this shape that have lanes."""
        return frozenset(k for k, places in enumerate(self.traced.places.of(shape)) if len(places) > 1)

    def _state_inputs(self) -> list[tuple[SizedArgument, Sequence[Scalar]]]:
        of = self.made.of
        return [(x, self.arrays[x.name]) for _, x in self._inputs(of, list(self.arrays))]

    def _rates(self, values: Sequence[Scalar]) -> list[Scalar]:
        """The rates of values if the inputs move."""
        numbers = {x.name: self.arrays[x.name + DOT] for x in self.by}
        return rates_of(values, self.arrays, numbers, self.by)

    def _weights(self) -> list[Scalar]:
        return [w for y in self.made.of.signature.outputs for w in self.arrays[y.name + BAR]]

    def _of_values(self) -> list[list[Scalar]]:
        """The gradients, or the rates if there are no weights, from the values of the function."""
        of = self.made.of
        assert of.in_limbs is not None
        state = self.traced.state(self._state_inputs(), sums=self.sums)
        results = of.trace(of.in_limbs.for_derivatives, self.filled, state)
        if not self.mode.seeded:
            rates = iter(self._rates([value for values in results for value in values]))
            return [list(islice(rates, len(values))) for values in results]
        flat = [value for values in results for value in values]
        bars = gradients(self.builder, zip(flat, self._weights(), strict=True), self.arrays, self.by)
        return [bars[x.name] for x in self.by]

    def _by_along(self, along: Form) -> list[list[Scalar]]:
        """The gradients, or the rates if there are no weights, from the form along a direction. That form is
        linear in the rates, so its transpose gives the gradients.
        """
        of, rates = self.made.of, dict[str, Sequence[Scalar]]()
        for x in self.by:
            name = x.name + DOT
            rates[name] = self.builder.unknowns(x.size, x.lanes) if self.mode.seeded else self.arrays[name]
        moved = self._inputs(differentiated(of, "jvp"), list(rates))
        inputs = [*self._state_inputs(), *((x, rates[x.name]) for _, x in moved)]
        results = of.trace(along, self.filled, self.traced.state(inputs, sums=self.sums))
        if not self.mode.seeded:
            return [list(values) for values in results]
        flat = [value for values in results for value in values]
        found = iter(pullback(flat, self._weights(), [rate for own in rates.values() for rate in own]))
        return [[next(found) for _ in range(x.size)] for x in self.by]


def _tangent(x: Argument) -> tuple[str | int, ...]:
    """The shape of the numbers that move an input."""
    return ("nv",) if x.kind == "configuration" else x.shape
