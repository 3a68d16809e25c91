"""Rows of compositions, which are functions of a user's own, see `composition.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from rbdgen.access import Place
from rbdgen.functions.composition import Composition, Multiply, Product, Value, written_out
from rbdgen.functions.form import Form, Outputs
from rbdgen.functions.function import Function
from rbdgen.functions.resistance import model_of
from rbdgen.functions.table import lookup
from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.products import Values, regions_if_large
from rbdgen.graph.replay import replay
from rbdgen.graph.values import elementary, sign
from rbdgen.model.angles import TracedAngle
from rbdgen.model.joints import Angle
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel, reduce
from rbdgen.model.tree_size import TreeSize
from rbdgen.signature import Argument, Kind, Signature, SizedArgument
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State, state_of
from rbdgen.sweeps.loops import LoopedForm, joined

COMPOSED: Final = "composed"
"""The name of the only form of a composition."""

CALLED: Final = "called"
"""The name of the form that computes the outputs of all rows that a composition calls, and nothing else."""

_FIELDS: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        "configuration": "q",
        "velocity": "v",
        "acceleration": "a",
        "force": "tau",
        "external_forces": "fext",
    }
)
"""The inputs that a `State` holds as fields, by kind."""

_NO_FORMS: Final[Mapping[str, str]] = MappingProxyType({})
_NO_GRAPHS: Final[Mapping[str, Graph]] = MappingProxyType({})


@dataclass(frozen=True)
class Matrix:
    """Some elements of a matrix as an array, by row and column."""

    name: str
    places: tuple[Place, ...]

    def elements(self, values: Values) -> list[Value]:
        """The elements of the array."""
        return [values.get(at, 0) for at in self.places]

    def values(self, elements: Sequence[Value]) -> dict[Place, Value]:
        """The elements of the matrix."""
        return dict(zip(self.places, elements, strict=True))

    @property
    def argument(self) -> Argument:
        """The array as an input or an output of a line."""
        return Argument(self.name, "values", (len(self.places),), "", "elements of a matrix")


@dataclass(frozen=True)
class Factors:
    """A product that loops compute, with arrays of a straight line around them."""

    left: Matrix
    right: Matrix
    result: Matrix


def composed(
    composition: Composition,
    model: Model,
    forms: Mapping[str, str] = _NO_FORMS,
    graphs: Mapping[str, Graph] = _NO_GRAPHS,
    large: dict[str, Factors] | None = None,
    *,
    as_line: bool = False,
) -> Function:
    """The row of a composition on a robot.

    Args:
        composition: the graph between the calls, and the calls.
        model: the robot. It must have all that the called rows need.
        forms: the forms of called rows, by name; by default that of `usual_form`.
        graphs: the graphs of those called rows that are derivatives of others, by name.
        large: where large products are noted while the row is traced. They are then not written out, and
            the row serves only to count its operations.
        as_line: whether the row is the straight line around the products that `large` has. Their factors are
            then outputs, and their results are inputs.

    Raises:
        OptionError: a called row does not fit the robot.
    """
    factors = tuple(large.values()) if large is not None and as_line else ()
    rows = called_rows(composition, model)
    chosen = {name: forms.get(name, usual_form(row, model).name) for name, row in rows.items()}

    def trace(robot: Model | ReducedModel, x: State) -> Outputs:
        if x.lanes.count > 1:
            return _in_limbs(rows.values(), robot, x)
        traced = _Trace(robot, x, rows, chosen, graphs)
        if factors:
            around = _AroundProducts(x, factors)
            return [*traced.outputs(composition, around.multiply), *around.outputs()]
        return traced.outputs(composition, written_out if large is None else _Noted(traced, large).multiply)

    def operations(size: TreeSize) -> int:
        return len(composition.graph) + sum(row.operations(size) for row in rows.values())

    measure = _called(rows.values(), chosen)
    form = Form(
        COMPOSED,
        "the functions one after the other" if composition.members else "the user's own text",
        trace,
        reduced=measure is not None,
        degrees="independent",
        can_use_limbs=_can_use_limbs(composition, rows),
    )
    looped = None if factors else _in_loops(composition, rows)
    return Function(
        _of_line(composition.signature, factors) if factors else composition.signature,
        composition.summary,
        (form,) if looped is None else (form, looped),
        operations=operations,
        measure=measure,
        composition=composition,
    )


def _of_line(signature: Signature, factors: Sequence[Factors]) -> Signature:
    """The signature of the straight line around products."""
    return Signature(
        f"{signature.name} around products",
        (*signature.inputs, *(x.result.argument for x in factors)),
        (*signature.outputs, *(side.argument for x in factors for side in (x.left, x.right))),
    )


def called_rows(composition: Composition, model: Model) -> dict[str, Function]:
    """The rows that a composition calls, by name. Raises OptionError if one does not fit the robot."""
    return {name: lookup(name, model) for name in composition.callees}


def straight_forms(row: Function, model: Model) -> list[Form]:
    """The forms with which a composition may call a row: straight lines that are worth a trial."""
    forms = [form for form in row.forms_for(model) if form.loops is None]
    return [form for form in forms if form.reduced] or forms


def usual_form(row: Function, model: Model) -> Form:
    """The form with which a composition calls a row unless another one takes fewer operations: the first of
    `straight_forms`.
    """
    return straight_forms(row, model)[0]


class _Trace:
    """One trace of a composition on a robot. Equal calls run once."""

    def __init__(
        self,
        robot: Model | ReducedModel,
        x: State,
        rows: Mapping[str, Function],
        forms: Mapping[str, str],
        graphs: Mapping[str, Graph],
    ) -> None:
        self._robot, self._model, self._x = robot, model_of(robot), x
        self._rows, self._forms, self._graphs = rows, forms, graphs
        self._results: dict[tuple[object, ...], Sequence[Sequence[Value]]] = {}
        self._builder = Builder()

    @property
    def builder(self) -> Builder:
        """The builder of the expressions, while outputs are traced."""
        return self._builder

    def outputs(self, composition: Composition, multiply: Multiply) -> Outputs:
        """The elements of every output."""
        sized = composition.signature.sized(self._model.sizes)
        given = {x.name: elements_of(self._x, x) for x in sized.inputs}
        builder = next(e.builder for values in given.values() for e in values if isinstance(e, Expr))
        assert isinstance(builder, Builder)
        self._builder = builder
        others = {
            x.name: self._x.arrays[x.name] for x in composition.graph.inputs if x.name in self._x.arrays
        }
        return composition.run(self._builder, {**others, **given}, self._call, multiply)

    def _call(self, name: str, arguments: Sequence[Sequence[Value]]) -> Sequence[Sequence[Value]]:
        key = (name, *(tuple(e.edge if isinstance(e, Expr) else (e,) for e in x) for x in arguments))
        if key not in self._results:
            run = self._replayed if name in self._graphs else self._traced
            self._results[key] = run(name, arguments)
        return self._results[key]

    def _traced(self, name: str, arguments: Sequence[Sequence[Value]]) -> Sequence[Sequence[Value]]:
        row = self._rows[name]
        form = row.form(self._forms[name])
        given = zip(row.sized(self._model).inputs, arguments, strict=True)
        return row.trace(
            form, self._robot if form.reduced else self._model, called_state(self._model, given, self._x)
        )

    def _replayed(self, name: str, arguments: Sequence[Sequence[Value]]) -> Sequence[Sequence[Value]]:
        """The outputs of a row that is a derivative of another one. Its graph may also read arrays of the
        caller, such as the table of parameters.
        """
        graph = self._graphs[name]
        names = [x.name for x in self._rows[name].signature.inputs]
        given = {**self._x.arrays, **dict(zip(names, arguments, strict=True))}
        return list(replay(self._builder, graph, {x.name: given[x.name] for x in graph.inputs}).values())


class _Noted:
    """Notes large products, and gives symbols for their results."""

    def __init__(self, traced: _Trace, large: dict[str, Factors]) -> None:
        self._traced, self._large = traced, large
        large.clear()

    def multiply(self, product: Product, left: Values, right: Values) -> Mapping[Place, Value]:
        """The wanted elements of a product."""
        if not regions_if_large([(left, right)], product.wanted):
            return written_out(product, left, right)
        columns: dict[int, set[int]] = {}
        for k, j in right:
            columns.setdefault(k, set()).add(j)
        rows: dict[int, set[int]] = {}
        for i, k in left:
            rows.setdefault(i, set()).update(columns.get(k, ()))
        places = tuple(at for at in product.wanted if at[1] in rows.get(at[0], ()))
        self._large[product.name] = Factors(
            Matrix(f"left of {product.name}", tuple(left)),
            Matrix(f"right of {product.name}", tuple(right)),
            Matrix(product.name, places),
        )
        symbols = self._traced.builder.input(product.name, len(places))
        return dict(zip(places, symbols, strict=True))


class _AroundProducts:
    """Reads the results of these products from inputs, and gives their factors."""

    def __init__(self, x: State, factors: Sequence[Factors]) -> None:
        self._x, self._factors = x, {each.result.name: each for each in factors}
        self._found: dict[str, Outputs] = {}

    def multiply(self, product: Product, left: Values, right: Values) -> Mapping[Place, Value]:
        """The wanted elements of a product."""
        own = self._factors.get(product.name)
        if own is None:
            return written_out(product, left, right)
        self._found[product.name] = [own.left.elements(left), own.right.elements(right)]
        return own.result.values(self._x.arrays[product.name])

    def outputs(self) -> Outputs:
        """The elements of the factors."""
        return [side for name in self._factors for side in self._found[name]]


def elements_of(x: State, argument: SizedArgument) -> list[Scalar]:
    """The elements of an input, without those of joints that follow others."""
    if argument.name in x.arrays:
        return list(x.arrays[argument.name])
    return x.vectors[_FIELDS[argument.kind]][: argument.size]


def called_state(model: Model, given: Iterable[tuple[SizedArgument, Sequence[Scalar]]], x: State) -> State:
    """The state on which a called row runs, with the settings of the state of the caller."""
    sums = all(isinstance(angle, TracedAngle) for angle in x.q if isinstance(angle, Angle))
    state = state_of(
        model,
        given,
        elementary("cos"),
        elementary("sin"),
        sums=sums,
        naming=x.naming,
        sqrt=elementary("sqrt"),
        sign=sign,
    )
    return replace(state, smooth=x.smooth)


def _can_use_limbs(composition: Composition, rows: Mapping[str, Function]) -> bool:
    """Whether a composition calls nothing but rows that compute alike limbs as lanes, with its own inputs."""
    members = [rows.get(name) for name in composition.members]
    return bool(members) and all(
        row is not None
        and row.in_limbs is not None
        and all(x.name == _FIELDS.get(x.kind) for x in row.signature.inputs)
        for row in members
    )


def _in_loops(composition: Composition, rows: Mapping[str, Function]) -> Form | None:
    """The form in loops of a composition that calls nothing but rows with forms that can be joined."""
    members = [rows[name] for name in composition.members if name in rows]
    found = [(form, form.loops) for row in members for form in row.forms if form.joins and form.loops]
    if not found or len(found) < len(composition.members):
        return None
    outputs = iter(composition.signature.outputs)
    names = [{y.name: next(outputs).name for y in row.signature.outputs} for row in members]

    def loops(reduced: ReducedModel) -> LoopedForm:
        return joined([own(reduced).renamed(of) for (_, own), of in zip(found, names, strict=True)])

    return replace(
        found[0][0],
        source="the loops of the functions",
        trace=lambda robot, x: loops(robot if isinstance(robot, ReducedModel) else reduce(robot)).run(x),
        loops=loops,
        worth_trying=lambda model: all(form.worth_trying(model) for form, _ in found),
    )


def _in_limbs(rows: Iterable[Function], robot: Model | ReducedModel, x: State) -> Outputs:
    """The outputs of all rows on a robot on which one limb stands for several."""
    found: list[Any] = []
    for row in rows:
        assert row.in_limbs is not None
        found += row.trace(row.in_limbs, robot, x.of([y.name for y in row.signature.inputs], {}))
    return found


def _called(rows: Iterable[Function], forms: Mapping[str, str]) -> tuple[Function, str] | None:
    """A row that computes the outputs of all called rows on which body axes have an effect, and its form.

    The search for body axes counts it in place of the composition, whose text may name joints or frames that
    parts of the robot do not have.
    """
    traced = [row for row in rows if not row.of_a_graph and row.form(forms[row.name]).reduced]
    if len(traced) < 2:
        return (traced[0], forms[traced[0].name]) if traced else None
    inputs: dict[str, Argument] = {}
    for row in traced:
        inputs |= {x.name: x for x in _canonical(row)}
    outputs = [replace(y, name=f"{row.name}_{y.name}") for row in traced for y in row.signature.outputs]

    def trace(robot: ReducedModel, x: State) -> Outputs:
        found: list[Any] = []
        for row in traced:
            form = row.form(forms[row.name])
            names = {y.name: z.name for y, z in zip(row.signature.inputs, _canonical(row), strict=True)}
            sized = row.sized(robot.model).inputs  # without optional inputs that the robot does not have
            given = [(y, elements_of(x, replace(y, name=names[y.name]))) for y in sized]
            state = called_state(robot.model, given, x)
            found += row.trace(form, robot if form.reduced else robot.model, state)
        return found

    union = Function(
        Signature(CALLED, tuple(inputs.values()), tuple(outputs)),
        "all rows that are called",
        (Form(CALLED, "the forms of the called rows", trace, reduced=True, degrees="independent"),),
        operations=lambda size: sum(row.operations(size) for row in traced),
        of_joint_frames=any(row.of_joint_frames for row in traced),
    )
    return union, CALLED


def _canonical(row: Function) -> list[Argument]:
    """The inputs of a row with names that mean the same in all rows: the first q is called q, and so on."""
    found: list[Argument] = []
    for x in row.signature.inputs:
        name = _FIELDS.get(x.kind)
        taken = any(y.kind == x.kind for y in found)
        found.append(replace(x, name=name) if name and not taken else replace(x, name=f"{row.name}_{x.name}"))
    return found
