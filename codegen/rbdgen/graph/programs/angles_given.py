"""Sines and cosines as inputs (`--trig input`): the caller passes those of every joint angle.

The input q is replaced by `sin_q` and `cos_q`, each of the same size as q. Elements that belong to no angle
(those of a base or a prismatic joint) are not read. If a robot has such coordinates, q itself stays an input,
before `sin_q` and `cos_q`.

In this module, `angles` maps the name of the array q in a graph to its elements that are joint angles.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from math import cos, sin

from rbdgen.access import Access
from rbdgen.errors import GraphError
from rbdgen.graph.node import Graph, Input, Node
from rbdgen.graph.programs.program import Program
from rbdgen.signature import SizedArgument, SizedSignature
from rbdgen.wording import option

Angles = Mapping[str, Set[int]]


def angles_of(signature: SizedSignature, elements: Set[int]) -> Angles:
    """The argument `angles` for the configurations that a function takes."""
    return {x.name: elements for x in signature.inputs if x.kind == "configuration"}


def _pair_of(array: str) -> tuple[str, str]:
    """The names of the arrays of sines and cosines."""
    return f"sin_{array}", f"cos_{array}"


def signature_given(signature: SizedSignature, angles: Angles) -> SizedSignature:
    """The signature with the sines and cosines of joint angles in place of q."""
    inputs: list[SizedArgument] = []
    for argument in signature.inputs:
        if argument.name not in angles:
            inputs.append(argument)
            continue
        if len(angles[argument.name]) < argument.size:
            inputs.append(argument)
        sines, cosines = _pair_of(argument.name)
        where = f"the joint angles, where {argument.name} has them"
        inputs += [
            SizedArgument(sines, argument.shape, "1", f"sines of {where}", "sines"),
            SizedArgument(cosines, argument.shape, "1", f"cosines of {where}", "cosines"),
        ]
    return SizedSignature(signature.name, tuple(inputs), signature.outputs)


def graph_given(graph: Graph, angles: Angles) -> Graph:
    """The graph that reads sines and cosines instead of computing them.

    The angle of a sine may be q[k] or a sum of angles and constants, which the addition theorems expand.

    Raises:
        GraphError: if the angle of a sine or cosine is anything else.
    """
    if not any(array.name in angles for array in graph.inputs):
        return graph
    return _Replacement(graph, angles).graph()


def angles_given(program: Program, angles: Angles) -> Program:
    """The program whose straight lines read sines and cosines; errors as in `graph_given`."""
    loops = []
    for loop in program.loops:
        read = {name: access for name, access in loop.reads.items() if access.array in angles}
        turning = {name: _angles_read(at, loop.count, angles[at.array]) for name, at in read.items()}
        body = graph_given(loop.kernel, turning)
        added = {
            new: replace(at, array=array)
            for name, at in read.items()
            for new, array in zip(_pair_of(name), _pair_of(at.array), strict=True)
        }
        reads = {**loop.reads, **added}
        kept = {array.name: reads[array.name] for array in body.inputs}
        loops.append(replace(loop, kernel=body, reads=kept))
    inputs = tuple(new for array in program.inputs for new in _replaced(array, angles))
    return replace(program, inputs=inputs, loops=tuple(loops))


def _angles_read(access: Access, runs: int, angles: Set[int]) -> set[int]:
    """The elements read that are angles in every run."""
    elements = range(len(access.elements))
    return {e for e in elements if all(access.address(k, e) in angles for k in range(runs))}


def _replaced(array: Input, angles: Angles) -> list[Input]:
    """The arrays that replace an input array."""
    if array.name not in angles:
        return [array]
    kept = [array] if len(angles[array.name]) < array.size else []
    return [*kept, *(Input(name, array.size) for name in _pair_of(array.name))]


@dataclass
class _Replacement:
    old: Graph
    angles: Angles
    nodes: list[Node] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)
    pairs: dict[int, tuple[int, int]] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)

    def graph(self) -> Graph:
        inputs = self._inputs()
        position = 0
        for array in inputs:
            self.first[array.name] = position
            position += array.size
        live = self._live()
        labels: dict[int, str] = {}
        for index, node in enumerate(self.old.nodes):
            if index not in live:
                continue
            self.place[index] = self._copied(node)
            if index in self.old.labels:
                labels[self.place[index]] = self.old.labels[index]
        outputs = tuple(
            type(output)(output.name, output.shape, tuple(self.place[e] for e in output.elements))
            for output in self.old.outputs
        )
        return Graph(inputs, tuple(self.nodes), outputs, labels)

    def _inputs(self) -> tuple[Input, ...]:
        return tuple(new for array in self.old.inputs for new in _replaced(array, self.angles))

    def _live(self) -> set[int]:
        """The nodes that are still read when sines and cosines are not computed from their angles."""
        live = {element for output in self.old.outputs for element in output.elements}
        for index in range(len(self.old.nodes) - 1, -1, -1):
            node = self.old.nodes[index]
            if index in live and node.op not in ("sin", "cos"):
                live.update(node.args)
        return live

    def _copied(self, node: Node) -> int:
        if node.op in ("sin", "cos"):
            return self._pair(node.args[0])[node.op == "cos"]
        if node.op == "input":
            return self._input(*self.old.input_element(int(node.value)))
        return self._put(node.op, *(self.place[argument] for argument in node.args), value=node.value)

    def _pair(self, index: int) -> tuple[int, int]:
        """The sine and the cosine of an angle."""
        if index not in self.pairs:
            self.pairs[index] = self._new_pair(index)
        return self.pairs[index]

    def _new_pair(self, index: int) -> tuple[int, int]:
        node = self.old.nodes[index]
        if node.op == "input":
            array, element = self.old.input_element(int(node.value))
            if element in self.angles.get(array, ()):
                sines, cosines = _pair_of(array)
                return self._input(sines, element), self._input(cosines, element)
        if node.op == "const":
            return self._put("const", value=sin(node.value)), self._put("const", value=cos(node.value))
        if node.op == "neg":
            sine, cosine = self._pair(node.args[0])
            return self._put("neg", sine), cosine
        if node.op in ("add", "sub"):
            (sa, ca), (sb, cb) = map(self._pair, node.args)
            other = "sub" if node.op == "add" else "add"
            sine = self._put(node.op, self._put("mul", sa, cb), self._put("mul", ca, sb))
            return sine, self._put(other, self._put("mul", ca, cb), self._put("mul", sa, sb))
        raise GraphError(
            f"{option('trig', 'input')}: the angle of a sine is not a sum of joint angles (node {index}, "
            f"{node.op}); generate with {option('trig', 'builtin')}"
        )

    def _input(self, array: str, element: int) -> int:
        if array not in self.first:
            raise GraphError(
                f"{option('trig', 'input')}: {array}[{element}] is read beside its sine; generate with "
                f"{option('trig', 'builtin')}"
            )
        return self._put("input", value=float(self.first[array] + element))

    def _put(self, op: str, *args: int, value: float = 0.0) -> int:
        self.nodes.append(Node(op, args, value))
        return len(self.nodes) - 1
