"""A straight line with lanes as loops over limbs: the code of a limb is written once and runs limb by limb.

The operations of limbs stay in one loop as far as data flow allows: a sum over limbs ends a loop, and so does
a value of another limb. Straight lines of the trunk are placed between loops. Values that a later line reads
are stored in scratch arrays; those of limbs have a row for each limb. A sum starts at 0 and grows limb by
limb.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rbdgen.access import Access
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.program import Loop, Program

LIMBS: Final = "waiting_of_limbs"
"""The prefix of scratch arrays with values of limbs; the number of the line that writes them follows."""

TRUNK: Final = "waiting_of_trunk"
"""The prefix of scratch arrays with values of the trunk."""

SUMS: Final = "sums"
"""The prefix of scratch arrays with sums over limbs."""


def loops_over_limbs(program: Program) -> Program:
    """The program of one line with lanes as loops over limbs. Sums over limbs are rounded in the limbs'
    order.
    """
    (loop,) = program.loops
    return _Cut(program, loop).loops()


@dataclass(frozen=True)
class _Step:
    """A node that computes."""

    op: str
    operands: tuple[tuple[int, int], ...]
    """The nodes that it reads. Each comes with a number n: it reads the value of the limb n places ahead."""
    many: bool
    """Whether it is in a loop over limbs, as a sum over limbs is."""

    @property
    def sums(self) -> bool:
        """Whether it is a sum over limbs, which is known after the loop."""
        return self.op == "join"

    def behind(self, read: _Step, lanes_ahead: int) -> int:
        """The least number of segments by which it comes after the step that it reads."""
        if self.many and (read.sums or lanes_ahead):
            return 2
        return int(self.many != read.many)


def _sources(graph: Graph) -> list[tuple[int, int]]:
    """For every node, the node that has its value, and the number of limbs by which the value is ahead."""
    found: list[tuple[int, int]] = []
    for index, (op, args, _) in enumerate(graph.nodes):
        source, lanes_ahead = found[args[0]] if op == "turn" else (index, -1)
        found.append((source, (lanes_ahead + 1) % graph.lanes))
    return found


def _steps(graph: Graph, sources: Sequence[tuple[int, int]]) -> dict[int, _Step]:
    """The steps that an output needs, by node and in order."""
    with_lanes, steps = graph.with_lanes(), dict[int, _Step]()
    for index, (op, args, _) in enumerate(graph.nodes):
        if args and op != "turn":
            many = bool(with_lanes[index]) or op == "join"
            steps[index] = _Step(op, tuple(sources[k] for k in args), many)
    live = {sources[k][0] for output in graph.outputs for k in output.elements}
    for index in sorted(steps, reverse=True):
        if index in live:
            live.update(k for k, _ in steps[index].operands)
    return {index: step for index, step in steps.items() if index in live}


def _soonest(steps: Mapping[int, _Step]) -> dict[int, int]:
    """The first segment in which each step can be placed. Even segments are the trunk's, odd ones are
    loops.
    """
    at: dict[int, int] = {}
    for index, step in steps.items():
        read = [at[k] + step.behind(steps[k], lanes_ahead) for k, lanes_ahead in step.operands if k in steps]
        at[index] = max(read, default=int(step.many))
    return at


class _Store(NamedTuple):
    """An element of an output."""

    output: str
    position: int
    source: int
    """The node that has its value."""
    lanes_ahead: int
    """The number of limbs by which this value is ahead."""
    many: bool
    """Whether there is one element for each limb."""


class _Cut:
    """A straight line that is cut into segments, which alternate between the trunk and loops over limbs.

    Attributes:
        stores: all elements of outputs.
        readers: for every step, the steps that read it, with the number of limbs by which they look ahead.
        written: for every node, the elements of outputs that have its value.
        segments: the segment of every step.
        slots: the array and index in which a value is kept for later segments.
        widths: the number of values in each of these arrays, per limb if each limb has its own.
        accesses: the accesses of all arrays by name.
    """

    def __init__(self, program: Program, loop: Loop) -> None:
        self.program, self.graph = program, loop.kernel
        self.sources = _sources(self.graph)
        self.steps = _steps(self.graph, self.sources)
        self.stores = [
            _Store(output.name, k, *self.sources[element], len(loop.writes[output.name].offsets) > 1)
            for output in self.graph.outputs
            for k, element in enumerate(output.elements)
        ]
        self.readers: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self.written: dict[int, list[_Store]] = defaultdict(list)
        for store in self.stores:
            self.written[store.source].append(store)
        for index, step in self.steps.items():
            for k, lanes_ahead in step.operands:
                self.readers[k].append((index, lanes_ahead))
        self.segments = _soonest(self.steps)
        self._delay()
        self.slots: dict[int, tuple[str, int]] = {}
        self.widths: dict[str, int] = defaultdict(int)
        for index, step in self.steps.items():
            if step.sums or self._waits(index):
                kind = SUMS if step.sums else LIMBS if step.many else TRUNK
                array = f"{kind}{self.segments[index] // 2 + 1}"
                self.slots[index] = (array, self.widths[array])
                self.widths[array] += 1
        lanes = self.graph.lanes
        self.accesses = {**loop.reads, **loop.writes}
        for array, width in self.widths.items():
            rows = range(0, lanes * width, width) if array.startswith(LIMBS) else (0,)
            self.accesses[array] = Access(array, tuple(range(width)), tuple(rows))

    def _delay(self) -> None:
        """Move steps later, to where they are first read, as long as this does not let more values wait."""
        free = [index for index in reversed(self.steps) if index not in self.written]
        moved = True
        while moved:
            moved = False
            for index in free:
                own, waiting = self.segments[index], self._waiting(index)
                self.segments[index] = min(
                    self.segments[k] - self.steps[k].behind(self.steps[index], lanes_ahead)
                    for k, lanes_ahead in self.readers[index]
                )
                if self._waiting(index) > waiting:
                    self.segments[index] = own
                moved = moved or self.segments[index] > own

    def _waiting(self, index: int) -> int:
        """The number of values, of a step and its operands, that wait for a later segment."""
        around = {index, *(k for k, _ in self.steps[index].operands if k in self.steps)}
        return sum(map(self._waits, around))

    def _waits(self, index: int) -> bool:
        """Whether a later segment reads it or writes it to an output."""
        later = {self.segments[k] for k, _ in self.readers[index]}
        later |= {self.written_in(store) for store in self.written.get(index, ())}
        return later != {self.segments[index]}

    def written_in(self, store: _Store) -> int:
        """The segment that writes an element of an output."""
        if store.source not in self.steps:
            return int(store.many)
        own = _Step("", (), store.many)
        return self.segments[store.source] + own.behind(self.steps[store.source], store.lanes_ahead)

    def loops(self) -> Program:
        """The program of all segments that write something."""
        last = max(map(self.written_in, self.stores))
        lines = [self._line(segment) for segment in range(last + 1)]
        scratch = {array: width * len(self.accesses[array].offsets) for array, width in self.widths.items()}
        return replace(
            self.program, loops=tuple(line.loop() for line in lines if line.writes), scratch=scratch
        )

    def _line(self, segment: int) -> _Line:
        """The line of a segment: its operations, and the results, waiting values and sums that it writes."""
        line = _Line(self, segment)
        own = {index: step for index, step in self.steps.items() if self.segments[index] == segment}
        for index, step in own.items():
            if not step.sums:
                line.compute(index)
                if index in self.slots:
                    line.write(*self.slots[index], line.value(index))
        for store in self.stores:
            if self.written_in(store) == segment:
                line.write(store.output, store.position, line.value(store.source, store.lanes_ahead))
        for index, step in self.steps.items():
            if step.sums and self.segments[index] == segment + 1:
                line.write(*self.slots[index], line.put("const"))
        for index, step in own.items():
            if step.sums:
                total = line.put("add", line.read(*self.slots[index]), line.value(*step.operands[0]))
                line.write(*self.slots[index], total)
        return line


class _Line:
    """A segment under construction, in terms of the arrays that it reads and writes."""

    def __init__(self, cut: _Cut, segment: int) -> None:
        self.cut, self.segment = cut, segment
        self.writes: dict[str, dict[int, int]] = defaultdict(dict)
        self._reads: dict[str, dict[int, int]] = defaultdict(dict)
        self._turned: dict[str, tuple[str, int]] = {}
        self._nodes: list[Node] = []
        self._places: dict[int, int] = {}
        self._labels: dict[int, str] = {}

    def put(self, op: str, *args: int, value: float = 0.0) -> int:
        """Write an operation and return its index."""
        self._nodes.append(Node(op, args, value))
        return len(self._nodes) - 1

    def compute(self, index: int) -> None:
        """Write a step of this segment."""
        step = self.cut.steps[index]
        self._places[index] = self.put(step.op, *(self.value(*operand) for operand in step.operands))
        if index in self.cut.graph.labels:
            self._labels[self._places[index]] = self.cut.graph.labels[index]

    def value(self, index: int, lanes_ahead: int = 0) -> int:
        """The index of a value that was computed here, or is read."""
        if index in self._places:
            return self._places[index]
        op, _, value = self.cut.graph.nodes[index]
        if op == "const":
            self._places[index] = self.put("const", value=value)
            return self._places[index]
        slot = self.cut.graph.input_element(int(value)) if op == "input" else self.cut.slots[index]
        return self.read(*slot, lanes_ahead)

    def read(self, array: str, k: int, lanes_ahead: int = 0) -> int:
        """Read an element of an array for the limb that is `lanes_ahead` ahead."""
        name = array if not lanes_ahead else f"{array}_next{lanes_ahead}"
        self._turned[name] = (array, lanes_ahead)
        if k not in self._reads[name]:
            self._reads[name][k] = self.put("input")
        return self._reads[name][k]

    def write(self, array: str, k: int, value: int) -> None:
        """Write an element of an array."""
        self.writes[array][k] = value

    def loop(self) -> Loop:
        """The finished segment as a loop."""
        order = [*self.cut.accesses]
        names = sorted(self._reads, key=lambda name: (order.index(self._turned[name][0]), name))
        nodes, position = list(self._nodes), 0
        for name in names:
            self._reads[name] = dict(sorted(self._reads[name].items()))
            for place in self._reads[name].values():
                nodes[place] = Node("input", (), float(position))
                position += 1
        outputs = {name: dict(sorted(them.items())) for name, them in self.writes.items()}
        kernel = Graph(
            tuple(Input(name, len(self._reads[name])) for name in names),
            tuple(nodes),
            tuple(Output(name, (len(them),), tuple(them.values())) for name, them in outputs.items()),
            self._labels,
        )
        many = self.segment % 2
        return Loop(
            f"{'limbs' if many else 'trunk'}{self.segment // 2 + 1}",
            kernel,
            {name: self._access(*self._turned[name], self._reads[name]) for name in names},
            {name: self._access(name, 0, them) for name, them in outputs.items()},
            self.cut.graph.lanes if many else 1,
        )

    def _access(self, array: str, lanes_ahead: int, elements: Iterable[int]) -> Access:
        """The access to these elements of an array."""
        whole = self.cut.accesses[array]
        offsets = (*whole.offsets[lanes_ahead:], *whole.offsets[:lanes_ahead])
        return Access(whole.array, tuple(whole.elements[k] for k in elements), offsets)
