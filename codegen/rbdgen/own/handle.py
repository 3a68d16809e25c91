"""The robot as a user's text sees it: its methods are the rows of the function table that fit the robot."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbdgen.errors import OptionError
from rbdgen.functions.composed import called_state, usual_form
from rbdgen.functions.composition import Call
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.builder import Builder
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.replay import replay
from rbdgen.model.reduce import reduce
from rbdgen.model.robot import Robot
from rbdgen.own.arrays import NESTED, Array, array
from rbdgen.own.errors import TextError
from rbdgen.selection.differentiate import Chooser
from rbdgen.signature import SizedArgument, SizedSignature
from rbdgen.sweeps.inputs import State


class Handle:
    """The robot of a text that runs on expressions.

    Its methods are the functions of the robot, such as `robot.aba(q, v, tau)`, with the inputs of the
    library's functions. Arguments are any expressions or numbers; a function with several outputs returns a
    named tuple.
    """

    def __init__(self, robot: Robot, builder: Builder) -> None:
        self.robot = robot
        self.calls: list[Call] = []
        self.arguments: list[tuple[str, tuple[int, ...], list[Any]]] = []
        self._builder = builder
        self._known: dict[tuple[Any, ...], Any] = {}

    @property
    def nq(self) -> int:
        """The length of q."""
        return self.robot.nq

    @property
    def nv(self) -> int:
        """The length of v, a and tau."""
        return self.robot.nv

    @property
    def mass(self) -> float:
        """The mass of all moving bodies, in kg. It is a number, even if masses are parameters."""
        return self.robot.mass

    @property
    def lower(self) -> Any:
        """The lower position limits, (nq,), in rad or m; -inf where there is none."""
        return self.robot.lower

    @property
    def upper(self) -> Any:
        """The upper position limits, (nq,), in rad or m; inf where there is none."""
        return self.robot.upper

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the joints in the order of q, without a floating base."""
        return self.robot.joint_names

    @property
    def bodies(self) -> tuple[str, ...]:
        """The names of the moving bodies, in the order of external forces."""
        return self.robot.bodies

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of the chosen frames, in order."""
        return tuple(frame.name for frame in self.robot.model.frames)

    @property
    def contacts(self) -> tuple[str, ...]:
        """The names of the contacts, in order."""
        return tuple(contact.name for contact in self.robot.model.contacts)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            row = lookup(name, self.robot.model)
        except OptionError as error:
            raise TextError(f"robot.{name}: {error}") from None
        return lambda *arguments, **named: self._call(row, arguments, named)

    def _call(self, row: Function, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
        signature = row.sized(self.robot.model)
        called = f"robot.{row.name}"
        given = _bound(called, signature.inputs, arguments, named)
        elements = [_elements(called, x, value) for x, value in zip(signature.inputs, given, strict=True)]
        key = (row.name, *(tuple(map(_key, x)) for x in elements))
        if key not in self._known:
            self._known[key] = self._outputs(row, signature.inputs, elements, signature.outputs)
        return _shaped(row.name, signature.outputs, self._known[key])

    def replayed(
        self, graph: Graph, signature: SizedSignature, arguments: Sequence[Any], named: dict[str, Any]
    ) -> Any:
        """The outputs of a graph on these arguments. Raises TextError for wrong arguments, as calls do."""
        given = _bound(signature.name, signature.inputs, arguments, named)
        elements = {
            x.name: _elements(signature.name, x, value)
            for x, value in zip(signature.inputs, given, strict=True)
        }
        found = replay(self._builder, graph, elements)
        return _shaped(signature.name, signature.outputs, [found[x.name] for x in signature.outputs])

    def _outputs(
        self,
        row: Function,
        inputs: Sequence[SizedArgument],
        elements: Sequence[Sequence[Any]],
        outputs: Sequence[SizedArgument],
    ) -> list[Any]:
        """The elements of every output: symbols that stand for the results of the call."""
        name = f"call {len(self.calls)}"
        flat = [element for values in elements for element in values]
        self.calls.append(Call(row.name, tuple(x.size for x in inputs), name))
        self.arguments.append((name, (len(flat),), flat))
        symbols = self._builder.input(name, sum(x.size for x in outputs))
        return split(symbols, outputs)


class Floats(Handle):
    """The robot of a text that runs on floats. Functions run in their usual forms; nothing is compiled."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot, Builder())
        self._chooser = Chooser(robot.model, None, "graph")

    def _outputs(
        self,
        row: Function,
        inputs: Sequence[SizedArgument],
        elements: Sequence[Sequence[Any]],
        outputs: Sequence[SizedArgument],
    ) -> list[Any]:
        model = self.robot.model
        numbers = [[float(value) for value in values] for values in elements]
        if row.of_a_graph:
            graph = self._chooser.choose(row).program.straight
            assert graph is not None
            arrays = {x.name: np.array(values) for x, values in zip(inputs, numbers, strict=True)}
            return [np.ravel(value) for value in evaluate(graph, arrays).values()]
        form = usual_form(row, model)
        state = called_state(model, zip(inputs, numbers, strict=True), State(()))
        found = row.trace(form, reduce(model) if form.reduced else model, state)
        return [np.array([float(value) for value in values]) for values in found]


def split(elements: Sequence[Any], arguments: Sequence[SizedArgument]) -> list[Sequence[Any]]:
    """The elements of each of several arrays that follow each other in `elements`."""
    found, start = [], 0
    for x in arguments:
        found.append(elements[start : start + x.size])
        start += x.size
    return found


def _key(value: Any) -> Any:
    return value.edge if isinstance(value, Expr) else (float(value),)


def _bound(
    name: str, inputs: Sequence[SizedArgument], arguments: Sequence[Any], named: dict[str, Any]
) -> list[Any]:
    """The arguments in the order of the row's inputs."""
    names = [x.name for x in inputs]
    given = dict(zip(names, arguments, strict=False)) | named
    twice = len(given) < len(arguments) + len(named)
    if twice or len(arguments) > len(names) or not given.keys() <= set(names):
        raise TextError(f"{name} takes {', '.join(names)}; give each of them once")
    defaults = {x.name: np.reshape(x.default, x.shape) for x in inputs if x.default is not None}
    if missing := [x for x in names if x not in given and x not in defaults]:
        raise TextError(f"{name} takes {', '.join(names)}; give {', '.join(missing)} too")
    return [given.get(x, defaults.get(x)) for x in names]


def _elements(name: str, x: SizedArgument, value: Any) -> list[Any]:
    held = np.asarray(value, object)
    if held.shape != x.shape:
        raise TextError(f"{name}: {x.name} has shape {held.shape}; give {x.shape}")
    elements = list(held.view(np.ndarray).ravel())
    for element in elements:
        if isinstance(element, Array):
            raise TextError(f"{name}: {x.name} holds arrays; {NESTED}")
        if not isinstance(element, (Expr, int, float, np.number)):
            raise TextError(f"{name}: {x.name} holds a {type(element).__name__}; give numbers or expressions")
    return elements


def _shaped(name: str, outputs: Sequence[SizedArgument], found: Sequence[Sequence[Any]]) -> Any:
    """The outputs as new arrays, which a text may write to; a named tuple if there are several."""
    arrays = []
    for x, elements in zip(outputs, found, strict=True):
        if isinstance(elements, np.ndarray):
            arrays.append(elements.reshape(x.shape).copy()[()])
            continue
        values = np.empty(len(elements), object)
        values[:] = elements
        arrays.append(array(values.reshape(x.shape)))
    if len(arrays) == 1:
        return arrays[0]
    return namedtuple(name, [x.name for x in outputs])(*arrays)
