"""Programs: a function as a few straight lines, some of them run many times on other elements.

Most functions are one straight line run once. Where the same operations repeat (a solve for every column, a
step for every body) a program holds them once: less code, and neighbouring runs can share a vector.

    program ::= inputs, outputs, scratch, tables, loop*    loops run in order, and so do the runs of a loop
    loop    ::= kernel, reads, writes, count               `reads`, `writes`: where the kernel's arrays lie

Scratch arrays lie between loops; tables hold constants. A kernel is a straight line, a `Graph`; within one
run it reads all it needs before it writes, and it writes no element twice, unless the same value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.access import Access, whole
from rbdgen.errors import GraphError
from rbdgen.graph.cost import Cost, cost
from rbdgen.graph.evaluate import Elementary, evaluate, lift
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.verify import verify

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
    """A straight line and where it finds its arrays; `reads` and `writes` by the kernel's names of them.

    `zeros`: elements of arrays it reads that are known to be 0, run by run.
    """

    name: str
    kernel: Graph
    reads: Mapping[str, Access]
    writes: Mapping[str, Access]
    count: int = 1
    zeros: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)

    @property
    def vectorisable(self) -> bool:
        """Whether neighbouring runs may be the lanes of a vector: none reads what another one writes."""
        accesses = [*self.reads.values(), *self.writes.values()]
        written = {access.array for access in self.writes.values()}
        return (
            self.count > 1
            and all(access.shared or access.consecutive for access in accesses)
            and not any(access.shared for access in self.writes.values())
            and not any(access.array in written for access in self.reads.values())
        )


@dataclass(frozen=True)
class Program:
    """A function as loops over straight lines; see the grammar above. `scratch`: name and size."""

    inputs: tuple[Input, ...]
    outputs: tuple[Result, ...]
    loops: tuple[Loop, ...]
    scratch: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def straight(self) -> Graph | None:
        """The graph of a program that is one straight line over its own arrays."""
        (first, *more) = self.loops
        placed = {**first.reads, **first.writes}
        if (
            more
            or first.count > 1
            or any(access != whole(name, len(access.elements)) for name, access in placed.items())
        ):
            return None
        return first.kernel

    @property
    def cost(self) -> Cost:
        """Operations executed."""
        return sum((cost(loop.kernel) * loop.count for loop in self.loops), Cost())

    @property
    def length(self) -> int:
        """Operations written down: those of a kernel that several loops run count once."""
        kernels = {id(loop.kernel): loop.kernel for loop in self.loops}
        return sum(cost(kernel).total for kernel in kernels.values())

    def work(self, lanes: int) -> int:
        """Weighted operations executed where `lanes` runs of a vectorisable loop share a vector."""
        return sum(
            cost(loop.kernel).work * (-(-loop.count // lanes) if loop.vectorisable else loop.count)
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
    sizes = {**program.scratch, **{output.name: output.size for output in program.outputs}}
    arrays |= {name: np.zeros((*leading, size), number) for name, size in sizes.items()}
    for loop in program.loops:
        _run_loop(loop, arrays, elementary)
    return {output.name: arrays[output.name].reshape((*leading, *output.shape)) for output in program.outputs}


def _run_loop(loop: Loop, arrays: dict[str, npt.NDArray[Any]], elementary: Elementary | None) -> None:
    runs = [slice(0, loop.count)] if loop.vectorisable else [slice(k, k + 1) for k in range(loop.count)]
    for these in runs:
        values = {
            name: arrays[access.array][..., _positions(access, these)] for name, access in loop.reads.items()
        }
        results = evaluate(loop.kernel, values, elementary)
        for name, access in loop.writes.items():
            rank = len(_shape(loop.kernel, name))
            leading = results[name].shape[: results[name].ndim - rank]
            flat = results[name].reshape((*leading, -1))
            arrays[access.array][..., _positions(access, these)] = flat


def _positions(access: Access, runs: slice) -> npt.NDArray[np.intp]:
    """Positions of the elements in these runs, (runs, elements); one run for an array that all share."""
    offsets = access.offsets if access.shared else access.offsets[runs]
    return np.add.outer(np.array(offsets, np.intp), np.array(access.elements, np.intp))


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
    arrays |= {name: [-1] * size for name, size in program.scratch.items()}
    arrays |= {output.name: [-1] * output.size for output in program.outputs}
    for loop in program.loops:
        for k in range(loop.count):
            read = {name: [arrays[p.array][a] for a in p.addresses(k)] for name, p in loop.reads.items()}
            flat = [element for array in loop.kernel.inputs for element in read[array.name]]
            index_of: list[int] = []
            for node in loop.kernel.nodes:
                if node.op == "input":
                    index_of.append(flat[int(node.value)])
                else:
                    index_of.append(put(Node(node.op, tuple(index_of[a] for a in node.args), node.value)))
            for output in loop.kernel.outputs:
                written = loop.writes[output.name]
                for address, element in zip(written.addresses(k), output.elements, strict=True):
                    arrays[written.array][address] = index_of[element]
    outputs = tuple(Output(o.name, o.shape, tuple(arrays[o.name])) for o in program.outputs)
    return Graph(program.inputs, tuple(nodes), outputs)


def verify_program(program: Program) -> None:
    """Check that every straight line is legal and every access inside an array that is written in time.

    Raises:
        GraphError: naming the loop and the array at fault.
    """
    given = {array.name: array.size for array in program.inputs}
    given |= {name: len(values) for name, values in program.tables.items()}
    targets = {**program.scratch, **{output.name: output.size for output in program.outputs}}
    if len(given) + len(targets) != len({**given, **targets}):
        raise GraphError("two arrays of a program have the same name; give each its own")
    written = {name: np.array([0] * size + [_NEVER]) for name, size in given.items()}
    written |= {name: np.array([_NEVER] * (size + 1)) for name, size in targets.items()}
    made = 0
    for loop in program.loops:
        verify(loop.kernel)
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
    """Every run reads what an earlier one wrote and writes inside scratch and outputs.

    `runs`: their numbers in the whole program. `written`: for every element of an array the number of the
    run that follows its first write, 0 where it is given, _NEVER where there is none; a last entry stands
    for all that is outside. This loop's writes are added.
    """
    for access in loop.writes.values():
        at = _positions(access, slice(None))[: loop.count]
        outside = (at < 0) | (at >= targets.get(access.array, 0))
        _refuse_run(loop, outside, f"writes outside '{access.array}'")
        np.minimum.at(written[access.array], at, runs[: len(at), None] + 1)
    for name, access in loop.reads.items():
        at = _positions(access, slice(None))
        since = written.get(access.array, np.array([_NEVER]))
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
        for output in loop.kernel.outputs:
            access = loop.writes[output.name]
            for address, node in zip(access.addresses(run_number), output.elements, strict=True):
                value = (run_number, node)
                if written.setdefault((access.array, address), value) != value:
                    raise GraphError(
                        f"loop '{loop.name}', run {run_number}: writes two values to"
                        f" '{access.array}[{address}]'; write one, or in two loops"
                    )


def _refuse_run(loop: Loop, wrong: npt.NDArray[np.bool_], fault: str) -> None:
    """Raise GraphError for the first run with something wrong, (runs, elements), if there is one."""
    if wrong.any():
        raise GraphError(f"loop '{loop.name}', run {int(wrong.any(axis=1).argmax())}: {fault}")


def _verify_arrays(loop: Loop) -> None:
    """The kernel's arrays are those of `reads` and `writes`, element by element."""
    for kind, arrays, accesses in (
        ("reads", loop.kernel.inputs, loop.reads),
        ("writes", loop.kernel.outputs, loop.writes),
    ):
        if {array.name: array.size for array in arrays} != {n: len(p.elements) for n, p in accesses.items()}:
            raise GraphError(f"loop '{loop.name}': what it {kind} is not what its straight line has")
        for name, access in accesses.items():
            if len(access.offsets) not in (1, loop.count):
                raise GraphError(
                    f"loop '{loop.name}': {name!r} has {len(access.offsets)} offsets for {loop.count} runs"
                )
