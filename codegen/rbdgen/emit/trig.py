"""Sines and cosines as inputs (`--trig input`): the caller hands in those of every joint angle.

The input q gives way to `sin_q` and `cos_q`, of q's size each; elements that belong to no angle (a base, a
prismatic joint) are not read. A robot that has such coordinates keeps q in front of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from math import cos, sin

from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph, Input, Node
from rbdgen.graph.program import Program
from rbdgen.signature import SizedArgument, SizedSignature

SINES = "sin_q"
COSINES = "cos_q"


def signature_with_trig(signature: SizedSignature, angles: Set[int]) -> SizedSignature:
    """The signature with q replaced; `angles` are q's elements that are joint angles."""
    inputs: list[SizedArgument] = []
    for argument in signature.inputs:
        if argument.name != "q":
            inputs.append(argument)
            continue
        if len(angles) < argument.size:
            inputs.append(argument)
        inputs += [
            SizedArgument(SINES, argument.shape, "1", "sines of the joint angles, where q has them"),
            SizedArgument(COSINES, argument.shape, "1", "cosines of the joint angles, where q has them"),
        ]
    return SizedSignature(signature.name, tuple(inputs), signature.outputs)


def graph_with_trig(graph: Graph, angles: Set[int]) -> Graph:
    """The graph that reads sines and cosines instead of computing them.

    The angle of a sine may be q[k] itself or a sum of angles and constants, which the addition theorem
    takes apart.

    Raises:
        EmitError: the angle of a sine or cosine is anything else.
    """
    if not any(array.name == "q" for array in graph.inputs):
        return graph
    return _Replacement(graph, angles).graph()


def program_with_trig(program: Program, angles: Set[int]) -> Program:
    """The program whose straight lines read sines and cosines; errors as of `graph_with_trig`."""
    loops = []
    for loop in program.loops:
        if (place := loop.reads.get("q")) is None:
            loops.append(loop)
            continue
        elements = range(len(place.elements))
        turning = {e for e in elements if all(place.addresses(k)[e] in angles for k in range(loop.count))}
        body = graph_with_trig(loop.kernel, turning)
        kept = {array.name for array in body.inputs}
        places = {name: at for name, at in loop.reads.items() if name in kept}
        added = {
            array.name: replace(place, array=array.name)
            for array in body.inputs
            if array.name in (SINES, COSINES)
        }
        loops.append(replace(loop, kernel=body, reads={**places, **added}))
    inputs = tuple(new for array in program.inputs for new in _replaced(array, angles))
    return replace(program, inputs=inputs, loops=tuple(loops))


def _replaced(array: Input, angles: Set[int]) -> list[Input]:
    """What an input array gives way to."""
    if array.name != "q":
        return [array]
    kept = [array] if len(angles) < array.size else []
    return [*kept, Input(SINES, array.size), Input(COSINES, array.size)]


@dataclass
class _Replacement:
    old: Graph
    angles: Set[int]
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
        """Nodes still read when sines and cosines are not computed from their angles."""
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
        """Sine and cosine of an angle."""
        if index not in self.pairs:
            self.pairs[index] = self._new_pair(index)
        return self.pairs[index]

    def _new_pair(self, index: int) -> tuple[int, int]:
        node = self.old.nodes[index]
        if node.op == "input":
            array, element = self.old.input_element(int(node.value))
            if array == "q" and element in self.angles:
                return self._input(SINES, element), self._input(COSINES, element)
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
        raise EmitError(
            f"--trig input: the angle of a sine is not a sum of joint angles (node {index}, {node.op});"
            " generate with --trig libm or builtin"
        )

    def _input(self, array: str, element: int) -> int:
        if array not in self.first:
            raise EmitError(
                f"--trig input: q[{element}] is read beside its sine; generate with --trig libm or builtin"
            )
        return self._put("input", value=float(self.first[array] + element))

    def _put(self, op: str, *args: int, value: float = 0.0) -> int:
        self.nodes.append(Node(op, args, value))
        return len(self.nodes) - 1


def inputs_with_trig(values: Mapping[str, list[float]], angles: Set[int]) -> dict[str, list[float]]:
    """Values of the inputs with q replaced: `sin_q` and `cos_q` beside it, 0 and 1 where q has no angle."""
    if "q" not in values:
        return dict(values)
    q = values["q"]
    sines = [sin(x) if k in angles else 0.0 for k, x in enumerate(q)]
    cosines = [cos(x) if k in angles else 1.0 for k, x in enumerate(q)]
    return {**values, SINES: sines, COSINES: cosines}
