"""The elements of a program's outputs that are always 0, and programs that give only the others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from rbdgen.access import Access
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.ops import OPS
from rbdgen.graph.passes.dead import dead
from rbdgen.graph.programs.program import Loop, Program, Result, straight_line
from rbdgen.signature import SizedArgument, SizedSignature

Positions: TypeAlias = tuple[int, ...]
"""Elements of an array, row-major, ascending."""


def sparse(
    signature: SizedSignature, program: Program, packed: Collection[str] = ()
) -> tuple[SizedSignature, Program]:
    """The signature that says which elements of outputs may be nonzero, and its program.

    `packed` names outputs that then hold these elements only; if all are 0, such an output holds one of them.
    """
    patterns, chosen = nonzero(program), {}

    def known(output: SizedArgument) -> SizedArgument:
        pattern = patterns[output.name]
        if output.name in packed:
            chosen[output.name] = pattern = _once(program, output, pattern) or (0,)
            return replace(output, shape=(len(pattern),), dense=output.shape, nonzero=pattern)
        return replace(output, nonzero=pattern) if len(pattern) < output.size else output

    signature = replace(signature, outputs=tuple(map(known, signature.outputs)))
    return signature, _packed(program, chosen) if chosen else program


def nonzero(program: Program) -> dict[str, Positions]:
    """The elements of every output that are not always 0.

    In a straight line these are the elements that are not the constant 0. Loops are run on marks instead of
    numbers: a sum may be nonzero if one of its terms may be, a product if both of its factors may be.
    """
    if (graph := program.straight) is not None:
        zero = Node("const")
        return {
            output.name: tuple(k for k, at in enumerate(output.elements) if graph.nodes[at] != zero)
            for output in graph.outputs
        }
    marks = {array.name: [True] * array.size for array in program.inputs}
    marks |= {name: [x != 0 for x in values] for name, values in program.tables.items()}
    marks |= {name: [False] * size for name, size in program.scratch.items()}
    marks |= {output.name: [False] * output.size for output in program.outputs}
    for loop in program.loops:
        _mark(loop, marks)
    return {x.name: tuple(k for k, mark in enumerate(marks[x.name]) if mark) for x in program.outputs}


def _mark(loop: Loop, marks: Mapping[str, list[bool]]) -> None:
    """Mark the results of all runs. Runs that read the same marks write the same marks."""
    reads = [loop.reads[array.name] for array in loop.kernel.inputs]
    known: dict[tuple[bool, ...], list[bool]] = {}
    for run in range(loop.count):
        given = tuple(marks[access.array][k] for access in reads for k in access.addresses(run))
        if given not in known:
            known[given] = _marks_of(loop.kernel, given)
        for output in loop.kernel.outputs:
            access = loop.writes[output.name]
            for k, at in zip(access.addresses(run), output.elements, strict=True):
                marks[access.array][k] = known[given][at]


def _marks_of(kernel: Graph, given: Sequence[bool]) -> list[bool]:
    """For every node, whether it may be nonzero."""
    found: list[bool] = []
    for op, args, value in kernel.nodes:
        if op == "input":
            found.append(given[int(value)])
        elif op == "const":
            found.append(value != 0)
        elif op in ("cos", "exp", "log", "acos"):
            found.append(True)
        elif op in ("add", "sub", "max", "min", "select", "select_le", "atan2", "hypot"):
            found.append(any(found[k] for k in args[OPS[op].compared :]))
        else:
            # a quotient is 0 if its dividend is 0
            found.append(found[args[0]] and (op != "mul" or found[args[1]]))
    return found


def _once(program: Program, output: SizedArgument, pattern: Positions) -> Positions:
    """The elements of a pattern that a packed output holds.

    Of two elements that the symmetric axes exchange, the one with the lower index first is left out. If a
    straight line computes the two separately, both stay.
    """
    graph, kept = program.straight, set(pattern)
    apart = () if graph is None else next(x.elements for x in graph.outputs if x.name == output.name)
    for k, mirror in _exchanged(output):
        if apart and apart[k] != apart[mirror]:
            kept |= {k, mirror}
        elif k in kept:
            kept ^= {k}
            kept |= {mirror}
    return tuple(sorted(kept))


def _exchanged(output: SizedArgument) -> Iterator[tuple[int, int]]:
    """Pairs of elements that the symmetric axes exchange: the one with the lower index first, and its mirror
    image.
    """
    if output.symmetric is None:
        return
    (n, step), (_, other) = (
        (output.shape[axis], prod(output.shape[axis + 1 :])) for axis in output.symmetric
    )
    for k in range(output.size):
        ahead = k // other % n - k // step % n
        if ahead > 0:
            yield k, k + ahead * (step - other)


def _packed(program: Program, chosen: Mapping[str, Positions]) -> Program:
    """The program that gives only these elements of some outputs."""
    if (graph := program.straight) is not None:
        outputs = (
            Output(x.name, (len(chosen[x.name]),), tuple(x.elements[k] for k in chosen[x.name]))
            if x.name in chosen
            else x
            for x in graph.outputs
        )
        return straight_line(dead(replace(graph, outputs=tuple(outputs))))
    # loops write the whole array, and the elements are copied from it
    dense = {x.name: f"dense_{x.name}" for x in program.outputs if x.name in chosen}

    def moved(accesses: Mapping[str, Access]) -> dict[str, Access]:
        return {name: replace(at, array=dense.get(at.array, at.array)) for name, at in accesses.items()}

    loops = (replace(loop, reads=moved(loop.reads), writes=moved(loop.writes)) for loop in program.loops)
    return replace(
        program,
        outputs=tuple(
            Result(x.name, (len(chosen[x.name]),)) if x.name in chosen else x for x in program.outputs
        ),
        loops=(*loops, *(_copy(dense[name], name, kept) for name, kept in chosen.items())),
        scratch={**program.scratch, **{dense[x.name]: x.size for x in program.outputs if x.name in chosen}},
    )


def _copy(source: str, target: str, kept: Positions) -> Loop:
    """A loop that copies some elements, one per run."""
    kernel = Graph((Input("element", 1),), (Node("input"),), (Output("entry", (1,), (0,)),))
    return Loop(
        "packed",
        kernel,
        {"element": Access(source, (0,), kept)},
        {"entry": Access(target, (0,), tuple(range(len(kept))))},
        len(kept),
    )
