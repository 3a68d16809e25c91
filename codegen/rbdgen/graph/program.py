"""Programs: a function as a few straight lines, some of them run many times over places in arrays.

Most functions are one straight line run once. Where the same operations repeat (a solve for every column, a
step for every body) a program holds them once: less code, and neighbouring runs can share a vector.

    program ::= inputs, outputs, rooms, tables, loop*      loops run in order, and so do the runs of a loop
    loop    ::= body, reads, writes, count                 `reads` and `writes` place the body's arrays

Rooms are arrays between loops; tables hold constants. A body is a `Graph`; within one run it reads all it
needs before it writes, and it writes no element twice, unless the same value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.errors import GraphError
from rbdgen.graph.cost import Cost, cost
from rbdgen.graph.evaluate import Elementary, evaluate, lift
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.verify import verify
from rbdgen.places import Place, whole

_Integers: TypeAlias = npt.NDArray[np.intp]

_NEVER = int(np.iinfo(np.intp).max)
"""The number of a run that does not come."""


@dataclass(frozen=True)
class Result:
    """An output array of a program."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Loop:
    """A straight line and where it finds its arrays; `reads` and `writes` by the body's names of them.

    `zeros`: elements of arrays it reads that are known to be 0, run by run.
    """

    name: str
    body: Graph
    reads: Mapping[str, Place]
    writes: Mapping[str, Place]
    count: int = 1
    zeros: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)

    @property
    def vectorisable(self) -> bool:
        """Whether neighbouring runs may be the lanes of a vector: none reads what another one writes."""
        places = [*self.reads.values(), *self.writes.values()]
        written = {place.array for place in self.writes.values()}
        return (
            self.count > 1
            and all(place.shared or place.consecutive for place in places)
            and not any(place.shared for place in self.writes.values())
            and not any(place.array in written for place in self.reads.values())
        )


@dataclass(frozen=True)
class Program:
    """A function as loops over straight lines; see the grammar above. `rooms`: name and size."""

    inputs: tuple[Input, ...]
    outputs: tuple[Result, ...]
    loops: tuple[Loop, ...]
    rooms: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def straight(self) -> Graph | None:
        """The graph of a program that is one straight line over its own arrays."""
        (first, *more) = self.loops
        placed = {**first.reads, **first.writes}
        if (
            more
            or first.count > 1
            or any(place != whole(name, len(place.elements)) for name, place in placed.items())
        ):
            return None
        return first.body

    @property
    def cost(self) -> Cost:
        """Operations executed."""
        return sum((cost(loop.body) * loop.count for loop in self.loops), Cost())

    @property
    def length(self) -> int:
        """Operations written down: those of a body that several loops run count once."""
        bodies = {id(loop.body): loop.body for loop in self.loops}
        return sum(cost(body).total for body in bodies.values())

    def work(self, lanes: int) -> int:
        """Weighted operations executed where `lanes` runs of a vectorisable loop share a vector."""
        return sum(
            cost(loop.body).work * (-(-loop.count // lanes) if loop.vectorisable else loop.count)
            for loop in self.loops
        )


def straight_line(graph: Graph) -> Program:
    """The program that runs a graph once."""
    return Program(
        graph.inputs,
        tuple(Result(output.name, output.shape) for output in graph.outputs),
        (
            Loop(
                "",
                graph,
                {array.name: whole(array.name, array.size) for array in graph.inputs},
                {array.name: whole(array.name, array.size) for array in graph.outputs},
            ),
        ),
    )


def run(
    program: Program,
    inputs: Mapping[str, npt.ArrayLike | Sequence[object]],
    elementary: Elementary | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Values of the outputs; arguments and errors as of `evaluate`, to which every straight line is given.

    Runs of a vectorisable loop are evaluated all at once, along an axis of their own.
    """
    if (graph := program.straight) is not None:
        return evaluate(graph, inputs, elementary)
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    for argument in program.inputs:
        if argument.name not in arrays:
            raise GraphError(f"input {argument.name!r} is missing; give an array (..., {argument.size})")
    dtype = np.result_type(*(arrays[argument.name] for argument in program.inputs))
    number = dtype if dtype.kind in "fcO" else np.dtype(float)
    leading = np.broadcast_shapes(*(arrays[argument.name].shape[:-1] for argument in program.inputs))
    constant = lift([arrays[argument.name] for argument in program.inputs], number)
    arrays |= {
        name: np.array([constant(x) for x in values], number) for name, values in program.tables.items()
    }
    sizes = {**program.rooms, **{output.name: output.size for output in program.outputs}}
    arrays |= {name: np.zeros((*leading, size), number) for name, size in sizes.items()}
    for loop in program.loops:
        _run_loop(loop, arrays, elementary)
    return {output.name: arrays[output.name].reshape((*leading, *output.shape)) for output in program.outputs}


def _run_loop(loop: Loop, arrays: dict[str, npt.NDArray[Any]], elementary: Elementary | None) -> None:
    runs = [slice(0, loop.count)] if loop.vectorisable else [slice(k, k + 1) for k in range(loop.count)]
    for these in runs:
        values = {
            name: arrays[place.array][..., _positions(place, these)] for name, place in loop.reads.items()
        }
        results = evaluate(loop.body, values, elementary)
        for name, place in loop.writes.items():
            flat = results[name].reshape((*results[name].shape[: -len(_shape(loop.body, name))], -1))
            arrays[place.array][..., _positions(place, these)] = flat


def _positions(place: Place, runs: slice) -> npt.NDArray[np.intp]:
    """Positions of the elements in these runs, (runs, elements); one run for an array that all share."""
    offsets = place.offsets if place.shared else place.offsets[runs]
    return np.add.outer(np.array(offsets, np.intp), np.array(place.elements, np.intp))


def _shape(graph: Graph, output: str) -> tuple[int, ...]:
    return next(array.shape for array in graph.outputs if array.name == output)


def unrolled(program: Program) -> Graph:
    """The same operations as one straight line."""
    if (graph := program.straight) is not None:
        return graph
    nodes: list[Node] = []
    arrays: dict[str, list[int]] = {}

    def put(node: Node) -> int:
        nodes.append(node)
        return len(nodes) - 1

    first = 0
    for argument in program.inputs:
        positions = range(first, first + argument.size)
        arrays[argument.name] = [put(Node("input", value=float(position))) for position in positions]
        first += argument.size
    for name, values in program.tables.items():
        arrays[name] = [put(Node("const", value=value)) for value in values]
    arrays |= {name: [-1] * size for name, size in program.rooms.items()}
    arrays |= {output.name: [-1] * output.size for output in program.outputs}
    for loop in program.loops:
        for k in range(loop.count):
            read = {name: [arrays[p.array][a] for a in p.addresses(k)] for name, p in loop.reads.items()}
            flat = [element for array in loop.body.inputs for element in read[array.name]]
            place: list[int] = []
            for node in loop.body.nodes:
                if node.op == "input":
                    place.append(flat[int(node.value)])
                else:
                    place.append(put(Node(node.op, tuple(place[a] for a in node.args), node.value)))
            for output in loop.body.outputs:
                written = loop.writes[output.name]
                for address, element in zip(written.addresses(k), output.elements, strict=True):
                    arrays[written.array][address] = place[element]
    outputs = tuple(Output(o.name, o.shape, tuple(arrays[o.name])) for o in program.outputs)
    return Graph(program.inputs, tuple(nodes), outputs)


def verify_program(program: Program) -> None:
    """Check that every straight line is legal and every place inside an array that is written in time.

    Raises:
        GraphError: naming the loop and the array at fault.
    """
    given = {array.name: array.size for array in program.inputs}
    given |= {name: len(values) for name, values in program.tables.items()}
    targets = {**program.rooms, **{output.name: output.size for output in program.outputs}}
    if len(given) + len(targets) != len({**given, **targets}):
        raise GraphError("two arrays of a program have the same name; give each its own")
    written = {name: np.array([0] * size + [_NEVER]) for name, size in given.items()}
    written |= {name: np.array([_NEVER] * (size + 1)) for name, size in targets.items()}
    made = 0
    for loop in program.loops:
        verify(loop.body)
        _verify_arrays(loop)
        _verify_once(loop)
        _verify_runs(loop, np.arange(made, made + loop.count), written, targets)
        made += loop.count
    for output in program.outputs:
        if missing := np.count_nonzero(written[output.name][:-1] == _NEVER):
            raise GraphError(f"output {output.name!r}: {missing} elements stay unwritten")


def _verify_runs(
    loop: Loop, runs: _Integers, written: Mapping[str, _Integers], targets: Mapping[str, int]
) -> None:
    """Every run reads what an earlier one wrote and writes inside rooms and outputs.

    `runs`: their numbers in the whole program. `written`: for every element of an array the number of the
    run that follows its first write, 0 where it is given, _NEVER where there is none; a last entry stands
    for all that is outside. This loop's writes are added.
    """
    for place in loop.writes.values():
        at = _positions(place, slice(None))[: loop.count]
        outside = (at < 0) | (at >= targets.get(place.array, 0))
        _refuse_run(loop, outside, f"writes outside '{place.array}'")
        np.minimum.at(written[place.array], at, runs[: len(at), None] + 1)
    for name, place in loop.reads.items():
        at = _positions(place, slice(None))
        since = written.get(place.array, np.array([_NEVER]))
        since = since[np.where((at < 0) | (at >= len(since)), -1, at)]
        _refuse_run(loop, since > runs[:, None], f"reads unwritten elements as {name!r}")


def _verify_once(loop: Loop) -> None:
    """No element gets two values where nothing says which is the last.

    The outputs of a run have no order, nor have the runs of a vectorisable loop.
    """
    written: dict[tuple[str, int], tuple[int, int]] = {}
    for run_number in range(loop.count):
        if not loop.vectorisable:
            written.clear()
        for output in loop.body.outputs:
            place = loop.writes[output.name]
            for address, node in zip(place.addresses(run_number), output.elements, strict=True):
                value = (run_number, node)
                if written.setdefault((place.array, address), value) != value:
                    raise GraphError(
                        f"loop '{loop.name}', run {run_number}: writes two values to"
                        f" '{place.array}[{address}]'; write one, or in two loops"
                    )


def _refuse_run(loop: Loop, wrong: npt.NDArray[np.bool_], fault: str) -> None:
    """Raise GraphError for the first run with something wrong, (runs, elements), if there is one."""
    if wrong.any():
        raise GraphError(f"loop '{loop.name}', run {int(wrong.any(axis=1).argmax())}: {fault}")


def _verify_arrays(loop: Loop) -> None:
    """The body's arrays are those placed, element by element."""
    for kind, arrays, places in (
        ("reads", loop.body.inputs, loop.reads),
        ("writes", loop.body.outputs, loop.writes),
    ):
        if {array.name: array.size for array in arrays} != {n: len(p.elements) for n, p in places.items()}:
            raise GraphError(f"loop '{loop.name}': what it {kind} is not what its straight line has")
        for name, place in places.items():
            if len(place.offsets) not in (1, loop.count):
                raise GraphError(
                    f"loop '{loop.name}': {name!r} has {len(place.offsets)} offsets for {loop.count} runs"
                )
