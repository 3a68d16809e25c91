"""Checks of a program: its kernels are legal, and accesses are inside arrays that have been written in
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.access import Access
from rbdgen.errors import GraphError
from rbdgen.graph.programs.program import Loop, Program
from rbdgen.graph.programs.run import positions
from rbdgen.graph.verify import verify

_Integers: TypeAlias = npt.NDArray[np.intp]

_NEVER = int(np.iinfo(np.intp).max)
"""A number that is greater than that of any run."""


def verify_program(program: Program) -> None:
    """Check that every straight line is legal, and that every access is inside an array that was written in
    time.

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
    """Check that every run reads only what earlier runs wrote, and writes inside scratch arrays and outputs.

    `runs` has the number of each run of the loop among those of the whole program. `written` has for every
    element of an array the number of the run that follows its first write: 0 for given elements, and _NEVER
    for elements that are not written. The last entry stands for all addresses outside the array. The writes
    of this loop are added to `written`.
    """
    for access in (*loop.reads.values(), *loop.writes.values()):
        if access.array not in written:  # even if a run accesses none of its elements
            raise GraphError(f"loop '{loop.name}': the program has no array '{access.array}'")
    for access in loop.writes.values():
        at = positions(access, slice(None))[: loop.count * loop.kernel.lanes]
        outside = (at < 0) | (at >= targets.get(access.array, 0))
        _refuse_run(loop, outside, f"writes outside '{access.array}'")
        np.minimum.at(written[access.array], at, runs[: len(at), None] + 1)
    for name, access in loop.reads.items():
        at = positions(access, slice(None))
        since = written[access.array]
        since = since[np.where((at < 0) | (at >= len(since)), -1, at)]
        _refuse_run(loop, since > runs[:, None], f"reads unwritten elements as {name!r}")


def _verify_once(loop: Loop) -> None:
    """Check that no element gets two different values if no order says which one is the last.

    The outputs of a run have no order, and neither do the runs of a vectorisable loop.
    """
    together = loop.vectorisable
    if loop.kernel.lanes > 1:
        _verify_once_in_lanes(loop)
        return
    for array in dict.fromkeys(access.array for access in loop.writes.values()):
        outputs = [output for output in loop.kernel.outputs if loop.writes[output.name].array == array]
        places = [positions(loop.writes[output.name], slice(None)) for output in outputs]
        at = np.hstack([np.broadcast_to(one, (loop.count, one.shape[1])) for one in places])
        nodes = np.hstack([np.array(output.elements, np.intp) for output in outputs])
        runs = np.broadcast_to(np.arange(loop.count)[:, None], at.shape)
        nodes = np.broadcast_to(nodes, at.shape)
        if together:
            at, runs, nodes = (x.reshape(1, -1) for x in (at, runs, nodes))
        order = np.argsort(at, axis=1, kind="stable")
        at, runs, nodes = (np.take_along_axis(x, order, axis=1) for x in (at, runs, nodes))
        other = (runs[:, 1:] != runs[:, :-1]) | (nodes[:, 1:] != nodes[:, :-1])
        twice = (at[:, 1:] == at[:, :-1]) & other
        if twice.any():
            first = np.where(twice, runs[:, 1:], _NEVER).argmin()
            run, address = runs[:, 1:].flat[first], at[:, 1:].flat[first]
            raise GraphError(
                f"loop '{loop.name}', run {run}: writes two values to '{array}[{address}]';"
                " write only one, or use two loops"
            )


def _verify_once_in_lanes(loop: Loop) -> None:
    """Check that lanes write to different elements."""
    written = [
        (access.array, int(at))
        for access in loop.writes.values()
        for at in np.ravel(positions(access, slice(None)))
    ]
    if len(set(written)) < len(written):
        raise GraphError(f"loop '{loop.name}': writes an element twice; write every one once")


def _refuse_run(loop: Loop, wrong: npt.NDArray[np.bool_], fault: str) -> None:
    """Raise GraphError for the first run with a fault, if there is one. The axes of `wrong` are runs and
    elements.
    """
    if wrong.any():
        raise GraphError(f"loop '{loop.name}', run {int(wrong.any(axis=1).argmax())}: {fault}")


def _verify_lanes(loop: Loop, name: str, access: Access) -> None:
    """Check that an array has a place for each lane or is shared by all lanes, and that values with lanes
    have a place for each.
    """
    lanes, graph = loop.kernel.lanes, loop.kernel
    read = {array.name: array.lanes for array in graph.inputs}
    written = [element for array in graph.outputs if array.name == name for element in array.elements]
    with_lanes = graph.with_lanes()
    own = read.get(name, lanes if any(with_lanes[k] for k in written) else len(access.offsets))
    if loop.count != 1 or len(access.offsets) not in (1, lanes) or len(access.offsets) != own:
        raise GraphError(f"loop '{loop.name}': {name!r} has {len(access.offsets)} places for {own} lanes")


def _verify_arrays(loop: Loop) -> None:
    """Check that the kernel's arrays are those of `reads` and `writes`, with the same sizes."""
    for kind, arrays, accesses in (
        ("reads", loop.kernel.inputs, loop.reads),
        ("writes", loop.kernel.outputs, loop.writes),
    ):
        if {array.name: array.size for array in arrays} != {n: len(p.elements) for n, p in accesses.items()}:
            raise GraphError(f"loop '{loop.name}': its {kind} do not match the arrays of its kernel")
        for name, access in accesses.items():
            if loop.kernel.lanes > 1:
                _verify_lanes(loop, name, access)
            elif len(access.offsets) not in (1, loop.count):
                raise GraphError(
                    f"loop '{loop.name}': {name!r} has {len(access.offsets)} offsets for {loop.count} runs"
                )
