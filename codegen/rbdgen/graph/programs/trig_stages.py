"""Splits straight-line code into stages, such that no angle depends on a sine of its own stage.

The built-in sine and cosine process all angles of a straight line at once. An angle that depends on sines,
such as one after an integration step, has to wait for a later stage. Values of earlier stages that a stage
needs are kept in a scratch array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rbdgen.access import Access
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.programs.program import Loop, Program, Result

WAITING = "waiting"
"""The name of the scratch array."""

_EARLIER, _LATER = "earlier", "later"
"""The names of this array in a stage that reads it, and in a stage that writes it."""


def in_trig_stages(program: Program) -> Program:
    """The program with one loop for every stage, which runs once; the same program if one stage suffices.

    Of several loops, each that runs once is split.
    """
    if program.straight is not None:
        return _staged(program.straight) or program
    loops: list[Loop] = []
    scratch = dict(program.scratch)
    taken = {*scratch, *(x.name for x in program.inputs), *(x.name for x in program.outputs)}
    for loop in program.loops:
        staged = _staged(loop.kernel) if loop.count == loop.kernel.lanes == 1 else None
        if staged is None:
            loops.append(loop)
            continue
        waiting = f"{WAITING}{len(loops)}"
        while waiting in taken:
            waiting = f"more_{waiting}"
        scratch[waiting] = staged.scratch[WAITING]
        loops += [_stage_of(loop, each, waiting) for each in staged.loops]
    return (
        program if len(loops) == len(program.loops) else replace(program, loops=tuple(loops), scratch=scratch)
    )


def _staged(line: Graph) -> Program | None:
    """The stages of a straight line; None if one suffices."""
    graph = dead(line)
    stages = _stages(graph)
    count = max(stages, default=0) + 1
    return None if count == 1 else _Cut(graph, stages).program(count)


def _stage_of(loop: Loop, stage: Loop, waiting: str) -> Loop:
    """A stage of the straight line of a loop, which keeps values in this scratch array."""

    def at(accesses: Mapping[str, Access], places: Mapping[str, Access]) -> dict[str, Access]:
        return {
            name: Access(places[name].array, tuple(places[name].address(0, k) for k in access.elements))
            if name in places
            else replace(access, array=waiting)
            for name, access in accesses.items()
        }

    reads, writes = at(stage.reads, loop.reads), at(stage.writes, loop.writes)
    return replace(stage, name=f"{loop.name}_{stage.name}", reads=reads, writes=writes)


def _stages(graph: Graph) -> list[int]:
    """The stage of every node: the first one that can compute it. A node that depends on no sine is placed
    in the first stage that reads it.
    """
    depths: list[int] = []
    for node in graph.nodes:
        own = max((depths[k] for k in node.args), default=0)
        depths.append(own + (node.op in ("sin", "cos")))
    stages = [max(depth - 1, 0) for depth in depths]
    wanted = {element for output in graph.outputs for element in output.elements}
    readers: dict[int, int] = {}
    for index in range(len(graph.nodes) - 1, -1, -1):
        if depths[index] == 0 and index not in wanted:
            stages[index] = readers.get(index, 0)
        for argument in graph.nodes[index].args:
            readers[argument] = min(readers.get(argument, stages[index]), stages[index])
    return stages


@dataclass
class _Cut:
    graph: Graph
    stages: Sequence[int]
    slots: dict[int, int] = field(default_factory=dict)

    def program(self, count: int) -> Program:
        for index, node in enumerate(self.graph.nodes):
            for argument in node.args:
                if self.graph.nodes[argument].args and self.stages[argument] < self.stages[index]:
                    self.slots.setdefault(argument, len(self.slots))
        return Program(
            self.graph.inputs,
            tuple(Result(output.name, output.shape) for output in self.graph.outputs),
            tuple(self._loop(stage) for stage in range(count)),
            {WAITING: len(self.slots)},
        )

    def _loop(self, stage: int) -> Loop:
        """The nodes of a stage. Constants and inputs are repeated in every stage that reads them."""
        nodes = self.graph.nodes
        own = [k for k, node in enumerate(nodes) if node.args and self.stages[k] == stage]
        computed = frozenset(own)
        outputs = [(name, at, taken) for name, at, taken in self._results(computed, first=stage == 0) if at]
        read = {k for index in own for k in nodes[index].args} | {k for _, _, taken in outputs for k in taken}
        arrays = self._arrays(sorted(read - computed))
        made: list[Node] = []
        place: dict[int, int] = {}
        for index in [k for array in arrays.values() for k, _ in array]:
            place[index] = len(made)
            made.append(Node("input", (), float(len(made))))
        for index in sorted((read | computed) - set(place)):
            op, arguments, value = nodes[index]
            place[index] = len(made)
            made.append(Node(op, tuple(place[k] for k in arguments), value))
        kernel = Graph(
            tuple(Input(name, len(array)) for name, array in arrays.items()),
            tuple(made),
            tuple(Output(name, (len(at),), tuple(place[k] for k in taken)) for name, at, taken in outputs),
            {place[k]: text for k, text in self.graph.labels.items() if k in computed},
        )
        reads = {
            name: Access(WAITING if name == _EARLIER else name, tuple(at for _, at in array))
            for name, array in arrays.items()
        }
        writes = {name: Access(WAITING if name == _LATER else name, at) for name, at, _ in outputs}
        return Loop(f"stage{stage + 1}", kernel, reads, writes)

    def _arrays(self, read: Sequence[int]) -> dict[str, list[tuple[int, int]]]:
        """The nodes that a stage reads and their positions, by array. Constants belong to no array."""
        arrays: dict[str, list[tuple[int, int]]] = {}
        for index in read:
            node = self.graph.nodes[index]
            if node.op == "input":
                name, at = self.graph.input_element(int(node.value))
                arrays.setdefault(name, []).append((index, at))
            elif node.args:
                arrays.setdefault(_EARLIER, []).append((index, self.slots[index]))
        return arrays

    def _results(
        self, computed: frozenset[int], *, first: bool
    ) -> Iterable[tuple[str, tuple[int, ...], list[int]]]:
        """The positions that a stage writes and their nodes, by array. The first stage writes the constants
        and inputs.
        """
        for output in self.graph.outputs:
            taken = [
                (at, k)
                for at, k in enumerate(output.elements)
                if k in computed or (first and not self.graph.nodes[k].args)
            ]
            yield output.name, tuple(at for at, _ in taken), [k for _, k in taken]
        waiting = [(self.slots[k], k) for k in sorted(computed) if k in self.slots]
        yield _LATER, tuple(at for at, _ in waiting), [k for _, k in waiting]
