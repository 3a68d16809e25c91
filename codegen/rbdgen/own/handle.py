"""The robot as a user's text sees it: its methods are the rows of the function table that fit the robot."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rbdgen.errors import OptionError
from rbdgen.functions.composed import called_state, usual_form
from rbdgen.functions.composition import Call
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.dependence import dependence
from rbdgen.graph.replay import replay
from rbdgen.model.reduce import reduce
from rbdgen.model.robot import Robot
from rbdgen.own.arrays import array, unpacked
from rbdgen.own.errors import TextError
from rbdgen.own.products import Recorder
from rbdgen.selection.differentiate import Chooser
from rbdgen.signature import SizedArgument, SizedSignature
from rbdgen.sweeps.inputs import State


class Handle:
    """The robot of a text that runs on expressions.

    Its methods are the functions of the robot, such as `robot.aba(q, v, tau)`, with the inputs of the
    library's functions. Arguments are any expressions or numbers; a function with several outputs returns a
    named tuple.
    """

    def __init__(self, robot: Robot, builder: Recorder) -> None:
        self.robot = robot
        self.held: list[tuple[str, tuple[int, ...], list[Any]]] = []
        self.reads_mass = False
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
        self.reads_mass = True
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
        given = bound(called, signature.inputs, arguments, named)
        elements = [_elements(called, x, value) for x, value in zip(signature.inputs, given, strict=True)]
        key = (row.name, *(tuple(map(_key, x)) for x in elements))
        if key not in self._known:
            self._known[key] = self._outputs(row, signature.inputs, elements, signature.outputs)
        return _shaped(row.name, signature.outputs, self._known[key])

    def hold(self, name: str, values: Any) -> None:
        """Note the value of a held input of an own function that the text calls, for `moving`."""
        elements = list(unpacked(values).view(np.ndarray).ravel())
        self.held.append((name, (len(elements),), elements))

    def moving(self, inputs: Iterable[str]) -> tuple[str, ...]:
        """The names of those held inputs of called own functions that depend on these inputs of the text."""
        held = [(f"held {k}", shape, values) for k, (_, shape, values) in enumerate(self.held)]
        graph = self._builder.graph([*held, *self._builder.read])
        found = dependence(graph, [x.name for x in graph.inputs])
        moving = set(inputs)

        def moves(output: str) -> bool:
            return any(pairs and name in moving for name, pairs in found[output].items())

        for step in self._builder.steps:
            if moves(step.name):
                moving.add(step.name)
        return tuple(name for k, (name, *_) in enumerate(self.held) if moves(f"held {k}"))

    def replayed(self, graph: Graph, signature: SizedSignature, given: Sequence[Any]) -> Any:
        """The outputs of a graph on these values of its inputs. Raises TextError for wrong shapes."""
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
        call = Call(row.name, tuple(x.size for x in inputs), f"call {len(self._builder.steps)}")
        flat = [element for values in elements for element in values]
        return split(self._builder.gap(call, flat, sum(x.size for x in outputs)), outputs)


class Floats(Handle):
    """The robot of a text that runs on floats. Functions run in their usual forms; nothing is compiled."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot, Recorder())
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


def bound(
    name: str, inputs: Iterable[SizedArgument], arguments: Sequence[Any], named: Mapping[str, Any]
) -> list[Any]:
    """The arguments of a call in the order of the inputs, with default values for those left out.

    Raises TextError if one is missing, unknown or given twice.
    """
    defaults = {x.name: None if x.default is None else np.reshape(x.default, x.shape) for x in inputs}
    names = list(defaults)
    told = f"{name} takes {', '.join(names)}"
    given = dict(zip(names, arguments, strict=False))
    if len(arguments) > len(names):
        raise TextError(f"{told}; {len(arguments)} arguments are given")
    for key, value in named.items():
        if key not in names or key in given:
            raise TextError(f"{told}; {key} is {'given twice' if key in given else 'none of them'}")
        given[key] = value
    found = [given.get(key, default) for key, default in defaults.items()]
    if missing := [key for key, value in zip(names, found, strict=True) if value is None]:
        raise TextError(f"{told}; {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    return found


def _elements(name: str, x: SizedArgument, value: Any) -> list[Any]:
    held = unpacked(value)
    if held.shape != x.shape:
        raise TextError(f"{name}: {x.name} has shape {held.shape}; give {x.shape}")
    elements = list(held.view(np.ndarray).ravel())
    for element in elements:
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
