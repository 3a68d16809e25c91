"""Derivatives along directions, made from the cheapest straight line of a function and simplified again.

The cost of a derivative is known only after a form of the function itself has been chosen. That form is
therefore chosen first and then differentiated. If the function has an inverse, the derivative is also
computed from that. If it has a form of its own along a direction, that form is also used, as it is or
transposed. The derivative that is cheapest after the passes is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from rbdgen.errors import OptionError
from rbdgen.functions.composed import composed
from rbdgen.functions.differentiated import BY_INVERSE, MODES, differentiated
from rbdgen.functions.expanded import expanded
from rbdgen.functions.form import LIMBS
from rbdgen.functions.function import Around, Called, Differentiated, Function, Whole
from rbdgen.functions.inner import Inner
from rbdgen.functions.whole import BY_CALLS, BY_COLUMNS, BY_DERIVATIVES, BY_ROWS
from rbdgen.graph.cost import cost
from rbdgen.graph.derivatives.forward import jvp
from rbdgen.graph.derivatives.inverse import jvp_by_inverse, vjp_by_inverse
from rbdgen.graph.derivatives.jacobian import by_columns, by_rows, hessian, with_gradient
from rbdgen.graph.derivatives.reverse import transposed, vjp
from rbdgen.graph.derivatives.slopes import Moving
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.passes import ONCE, TO_C, apply
from rbdgen.graph.programs.program import Result, straight_line
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.axes import BodyAxes
from rbdgen.selection.chain_rule import Chain
from rbdgen.selection.choice import Choice, faster_by_limbs
from rbdgen.selection.choose import choose, choose_tabled, subjects
from rbdgen.selection.collection import collection_paused
from rbdgen.selection.compose import Composed, with_forms
from rbdgen.selection.graphs import graph_of, simpler, table_last
from rbdgen.selection.implicit import ImplicitLine
from rbdgen.selection.inner import around_inner, is_straight, looped, placed
from rbdgen.selection.limb_derivatives import cheapest_derivative_in_limbs
from rbdgen.selection.limits import LIMITS
from rbdgen.selection.parameter_table import Table
from rbdgen.selection.products import LineOfProducts
from rbdgen.selection.rough import ROUGHLY, is_large, near, rough
from rbdgen.selection.tangents import moving, tangents, with_rates
from rbdgen.selection.trace import Subject
from rbdgen.signature import DOT, SizedArgument

NEARLY = 1.1
"""Other derivatives also go through the passes if they take at most so many times the fewest operations."""

LONG: Final = 10_000
"""From this number of operations on, whole derivatives take one round of the passes that reduce operations,
which has nearly all of their gain in a fraction of the time.
"""


@dataclass(frozen=True)
class Chooser:
    """The settings by which functions of a robot are chosen: the arguments of `choose`, or of `choose_tabled`
    if there is a table.
    """

    model: Model
    axes: BodyAxes | None
    engine: str
    sums: bool = True
    lanes: int = 1
    registers: float = LIMITS.registers
    table: Table | None = None
    limbs: bool = True
    apart: bool = False
    rough: bool = False
    """Whether lines are those of `rough.py`."""
    _lines: dict[str, Choice] = field(default_factory=dict)
    _compositions: dict[str, Composed] = field(default_factory=dict)

    def choose(self, function: Function, forced: str | None = None) -> Choice:
        """The cheapest program of a function. Raises OptionError for an unknown form."""
        function = self._composed(function)
        if (line := self._line_of_products(function)) is not None:
            return self._around_products(function, line, forced)
        if function.differentiated is not None:
            return self._by_limbs(function, function.differentiated, forced)
        if function.whole is not None:
            return self._whole(function, function.whole, forced)
        if function.around is not None:
            return self._around(function, function.around, forced)
        if function.calls is not None:
            return self._calling(function, function.calls, forced)
        return self._choose(function, forced, self.lanes)

    def _around(self, function: Function, made: Around, forced: str | None) -> Choice:
        """The cheapest straight line around the loops of a function."""
        chooser = replace(self, engine=self._engine_of_loops)
        if forced is not None and function.form_for(self.model, forced).for_size:
            chosen = chooser._choose(_line_of(function, made), None, 1)
            inner = [x.for_size if isinstance(x, Inner) else x for x in made.inner]
            return self._with_inner(function, chosen, inner, {}, forced)
        chosen = chooser._choose(_line_of(function, made), forced, 1)
        return self._with_loops(function, chosen, made.inner)

    @property
    def _engine_of_loops(self) -> str:
        """The engine that traces straight lines around loops, and these loops. SymPy rewrites choices between
        choices to conditions that no graph has.
        """
        return "graph" if self.engine == "sympy" else self.engine

    def _implicit(self, function: Function, made: Differentiated, of: Around) -> Choice:
        """The derivative of a straight line around loops that solve an equation."""
        chosen = replace(self, engine=self._engine_of_loops)._straight(_line_of(made.of, of))
        by = [moving(self.model, x, coordinates=made.coordinates) for x in self._sized(made)]
        graph = graph_of(chosen.program)
        graph = replace(graph, outputs=tuple(x for x in graph.outputs if x.elements))
        line = ImplicitLine(graph, of, made.of.held_by(self.model), by, self._told(made))
        signature = function.sized(line.model, self._parameters)
        graph, inner = line.derivative(signature, seeded=MODES[made.mode].seeded)
        program = apply(straight_line(table_last(graph)), TO_C)
        (form,) = (form.name for form in function.forms)
        chosen = Choice(program, form, chosen.axes, {form: program.cost})
        return self._with_loops(function, chosen, inner)

    def _with_loops(self, function: Function, line: Choice, inner: Sequence[Inner | Called]) -> Choice:
        """The program of a straight line around these loops."""
        return self._with_inner(function, line, inner, {}, line.form)

    def _with_inner(
        self,
        function: Function,
        line: Choice,
        inner: Sequence[Inner | Called],
        called: Mapping[str, Choice],
        form: str,
    ) -> Choice:
        """The program of a straight line around loops and the programs of other functions, given by name."""
        model, engine = function.held_by(self.model), self._engine_of_loops
        parts = [
            placed(called[x.row.name], x) if isinstance(x, Called) else looped(model, x, engine)
            for x in inner
        ]
        outputs = [Result(x.name, x.shape) for x in function.sized(model).outputs]
        return around_inner(line, graph_of(line.program), parts, outputs, form)

    def _calling(self, function: Function, made: Around, forced: str | None) -> Choice:
        """The straight line around programs of other functions, if one of these is no straight line itself.
        Otherwise the cheapest straight line of the whole function, whose parts share operations.
        """
        form = next(form.name for form in function.forms if form.calls)
        if self.table is not None or forced not in (None, form):
            return self._choose(function, forced, self.lanes)
        rows = {x.row.name: x.row for x in made.inner if isinstance(x, Called)}
        called = {name: replace(self, apart=False).choose(row) for name, row in rows.items()}
        if forced is None and all(map(is_straight, called.values())):
            return self._choose(function, forced, self.lanes)
        chooser = replace(self, engine=self._engine_of_loops)
        line = chooser._choose(_line_of(function, made), None, 1)
        found = self._with_inner(function, line, made.inner, called, form)
        if not self.apart or forced is not None or found.program.cost.total > LIMITS.longest_apart:
            return found
        whole = self._choose(function, None, 1)
        return replace(found, apart=whole.program, alternatives={**whole.alternatives, **found.alternatives})

    def _line_of_products(self, function: Function) -> Composed | None:
        """The composition that a function is, or of which it is a derivative along a direction, if that has
        large products. In other derivatives, products are written out.
        """
        made = function.differentiated
        if made is not None and not (MODES[made.mode].seeded and MODES[made.mode].moved):
            function = made.of
        if function.composition is None:
            return None
        found = self._with_forms(function)
        return None if found.line is None else found

    def _around_products(self, function: Function, composition: Composed, forced: str | None) -> Choice:
        """The straight line of a composition, or of a derivative of it, around large products."""
        assert composition.line is not None
        made = function.differentiated
        inputs = self._parameters
        own = composition.row.sized(self.model, inputs)
        if made is None:
            chosen = self._choose(composition.line, forced, 1)
            graph = graph_of(chosen.program)
            program = LineOfProducts(graph, composition.products, own).program()
        else:
            chosen = self._line(composition.line)
            line = LineOfProducts(graph_of(chosen.program), composition.products, own)
            by = [moving(self.model, x, coordinates=made.coordinates) for x in self._sized(made)]
            derivative = line.back if MODES[made.mode].seeded else line.along
            program = derivative(function.sized(self.model, inputs), by, self._told(made))
        form = function.forms[0].name
        return Choice(program, form, chosen.axes, {form: program.cost})

    def _composed(self, function: Function) -> Function:
        """The row with the forms of called rows chosen if it is a composition, otherwise the row."""
        return function if function.composition is None else self._with_forms(function).row

    def _with_forms(self, function: Function) -> Composed:
        """The row of a composition, and its line around large products."""
        if function.name not in self._compositions:
            self._compositions[function.name] = with_forms(
                function,
                self.model,
                self._subject(),
                lambda row: graph_of(replace(self, lanes=1).choose(row).program),
                counted=self.axes is not None,
                sums=self.sums,
            )
        return self._compositions[function.name]

    def _subject(self) -> Subject:
        """The model on which compositions are counted."""
        if self.table is not None:
            return self.table.reduced
        if self.axes is None:
            return reduce(self.model)
        return reduce(self.model, self.axes.turns, self.axes.slides)

    def _choose(self, function: Function, forced: str | None, lanes: int) -> Choice:
        engine = self.engine if function.composition is None else "graph"
        if self.table is not None:
            return choose_tabled(function, self.table, engine=engine, forced=forced, sums=self.sums)
        return choose(
            function,
            self.model,
            self.axes,
            engine=engine,
            forced=forced,
            sums=self.sums,
            lanes=lanes,
            registers=self.registers,
            limbs=self.limbs,
            apart=self.apart,
        )

    def _by_limbs(self, function: Function, made: Differentiated, forced: str | None) -> Choice:
        """The derivative along directions, with alike limbs as lanes if that is faster."""
        by_limb = forced == LIMBS and function.in_limbs is not None
        line = self._differentiated(function, made, None if by_limb else forced)
        straight = self.lanes == 1 or not self.limbs or self.table is not None or made.coordinates
        if straight or not (by_limb or forced is None) or function.in_limbs is None:
            return line
        base = self._along(made.of) if made.of.along else self._straight(made.of)
        on = (x for axes in base.tried[-1:] for x in subjects(self.model, axes, sums=self.sums))
        registers = self.registers / self.lanes
        find = partial(
            cheapest_derivative_in_limbs, function, made, self.model, on, registers, sums=self.sums
        )
        return faster_by_limbs(line, find, function, forced, apart=self.apart) or line

    @collection_paused()
    def _differentiated(self, function: Function, made: Differentiated, forced: str | None) -> Choice:
        """The derivative with the fewest operations."""
        if made.of.around is not None:
            return self._implicit(function, made, made.of.around)
        forms = [form.name for form in function.forms_for(self.model)]
        if forced is not None:
            forms = [function.form_for(self.model, forced).name]
        if made.by_table:
            # forms along a direction have no rates of the table
            forms = [form for form in forms if not made.is_along(form)]
        by = [moving(self.model, x, coordinates=made.coordinates) for x in self._sized(made)]
        searched = self.table is None and self.axes is not None and not self.rough
        if len(forms) > 1 and searched and is_large(made.of, self.model):
            roughly = replace(self, rough=True, _lines={})
            forms = near({form: roughly._derivative(form, made, by) for form in forms}, ROUGHLY)
        tried = {form: self._derivative(form, made, by) for form in forms}
        counts = {form: cost(graph) for form, graph in tried.items()}
        closest = near(tried, NEARLY)
        tried |= {form: simpler(tried[form]) for form in closest}
        counts |= {form: cost(tried[form]) for form in closest}
        best = min(closest, key=lambda form: counts[form].total)
        graph = tried[best]
        if MODES[made.mode].seeded and MODES[made.mode].moved:  # hvp: differentiate the cheapest gradient
            graph = jvp(graph, by)
            counts = {best: cost(graph)}
        constant = all(graph.nodes[k].op == "const" for output in graph.outputs for k in output.elements)
        if constant and not made.coordinates:  # a framework's chain rule takes a 0 as any other number
            raise OptionError(
                f"function '{function.name}': its results are 0 at all states of '{self.model.name}', "
                f"because the results or derivatives of '{made.of.name}' are constant; leave it out"
            )
        axes = (self._along(made.of) if made.is_along(best) else self._straight(made.of)).axes
        return Choice(apply(straight_line(table_last(graph)), TO_C), best, axes, counts)

    @collection_paused()
    def _whole(self, function: Function, made: Whole, forced: str | None) -> Choice:
        """The whole derivative with the fewest operations."""
        own = self._straight(made.of)
        graph = graph_of(own.program)
        sizes = made.of.sized(self.model, self._parameters).inputs
        names = {x.name for x in made.by}
        by = [moving(self.model, x, coordinates=False) for x in sizes if x.name in names]
        told = self._in_tangents(made.of)
        if made.kind == "jacobian":
            ways = {
                BY_COLUMNS: lambda: by_columns(graph, by, told),
                BY_ROWS: lambda: by_rows(graph, by, told),
                BY_DERIVATIVES: lambda: self._by_row(function, made),
                BY_CALLS: lambda: self._by_calls(function, made, by),
            }
            known = [form.name for form in function.forms]
            forms = [function.form_for(self.model, forced).name] if forced is not None else known
            tried = {form: ways[form]() for form in forms}
        else:
            (form,) = (form.name for form in function.forms)
            tried = {form: (with_gradient if made.kind == "gradient" else hessian)(graph, by)}
        counts = {form: cost(graph) for form, graph in tried.items()}
        best = min(tried, key=lambda form: counts[form].total)
        program = straight_line(table_last(tried[best]))
        steps = TO_C if counts[best].total < LONG else ONCE
        return Choice(apply(program, steps), best, own.axes, counts)

    def _by_row(self, function: Function, made: Whole) -> Graph:
        """The Jacobian by the row of the table that has the same derivatives."""
        assert made.derivatives is not None
        graph = graph_of(self._straight(made.derivatives).program)
        outputs = function.sized(self.model, self._parameters).outputs
        named = [
            replace(output, name=wanted.name, shape=wanted.shape)
            for output, wanted in zip(graph.outputs, outputs, strict=True)
        ]
        return replace(graph, outputs=tuple(named))

    def _by_calls(self, function: Function, made: Whole, by: Sequence[Moving]) -> Graph:
        """The Jacobian of a composition by the derivatives of the rows that it calls."""
        composition = expanded(made.of, self.model)
        assert composition is not None
        chain = Chain(composition, self.model, by)
        between = graph_of(self._straight(composed(chain.between, self.model)).program)
        jacobian = chain.jacobian(between, function.signature.outputs)
        return graph_of(self._straight(composed(jacobian, self.model)).program)

    @property
    def _parameters(self) -> int:
        """The number of parameters of the robot that are inputs."""
        return len(self.table.defaults) if self.table else 0

    def _sized(self, made: Differentiated) -> list[SizedArgument]:
        """The inputs with respect to which the function is differentiated."""
        names = {x.name for x in made.by}
        signature = made.of.sized(self.model, self._parameters)
        table = [] if self.table is None else [self.table.argument]
        return [x for x in (*signature.inputs, *table) if x.name in names]

    def _told(self, made: Differentiated) -> dict[str, Moving]:
        """The outputs that are configurations, whose rates are given in the tangent space."""
        return {} if made.coordinates else self._in_tangents(made.of)

    def _in_tangents(self, of: Function) -> dict[str, Moving]:
        """The outputs of a function that are configurations, whose rates are given in the tangent space."""
        return tangents(self.model, of.sized(self.model, self._parameters).outputs)

    def _straight(self, function: Function) -> Choice:
        """The cheapest straight line of a function, which is sought once."""
        if function.differentiated is not None:
            return self._differentiated(function, function.differentiated, None)
        if function.whole is not None:
            return self._whole(function, function.whole, None)
        return self._line(self._composed(function))

    def _line(self, function: Function) -> Choice:
        """The cheapest straight line of a row that is not differentiated, which is sought once."""
        if function.name not in self._lines:
            forced = None if self.axes is not None else function.forms_for(self.model)[0].name
            smooth = replace(function, forms=tuple(form.for_derivatives for form in function.forms))
            if self.rough:
                self._lines[function.name] = rough(smooth, self.model, self.axes, sums=self.sums)
            else:
                self._lines[function.name] = self._choose(smooth, forced, lanes=1)
        return self._lines[function.name]

    def _derivative(self, form: str, made: Differentiated, by: Sequence[Moving]) -> Graph:
        """The derivative by a form: the gradient if there are weights, otherwise the rates."""
        if made.is_along(form):
            return self._by_along(made.of, made, by)
        graph, seeded = graph_of(self._straight(made.of).program), MODES[made.mode].seeded
        if form != BY_INVERSE:
            return (vjp if seeded else jvp)(graph, by, self._told(made))
        assert made.inverse is not None
        z = made.inverse.signature.outputs[0].name
        others = [x for x in by if x.name != z]
        ways = [(vjp if seeded else jvp)(graph_of(self._straight(made.inverse).program), others)]
        if made.inverse.along is not None and not made.by_table:
            ways.append(self._by_along(made.inverse, made, others))
        found = [(vjp_by_inverse if seeded else jvp_by_inverse)(graph, way, by, z) for way in ways]
        return min(found, key=lambda graph: cost(graph).total)

    def _along(self, of: Function) -> Choice:
        """The cheapest straight line of a function's own form along a direction."""
        assert of.along is not None
        along = replace(
            differentiated(of, "jvp"),
            forms=(of.along,),
            differentiated=None,
            measure=of.measure,
            operations=of.operations,  # one object, so that searches for its body axes are kept
        )
        return self._straight(along)

    def _by_along(self, of: Function, made: Differentiated, by: Sequence[Moving]) -> Graph:
        """The derivative by the form along a direction: the gradient if there are weights, otherwise the
        rates.
        """
        moving = {x.name + DOT for x in of.signature.inputs}
        graph = with_rates(graph_of(self._along(of).program), moving, by, made.coordinates, self.model)
        return transposed(graph, by) if MODES[made.mode].seeded else graph


def _line_of(function: Function, made: Around) -> Function:
    """The straight line of a function, for the contacts to which the function is restricted."""
    signature = replace(made.line.signature, name=f"{function.name}_line")
    return replace(made.line, contacts=function.contacts, signature=signature)
