"""The interpreter of programs, for numbers of any type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.access import Access
from rbdgen.errors import GraphError
from rbdgen.graph.evaluate import Elementary, evaluate, lift
from rbdgen.graph.node import Graph
from rbdgen.graph.programs.program import Loop, Program


def run(
    program: Program,
    inputs: Mapping[str, npt.ArrayLike | Sequence[object]],
    elementary: Elementary | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Evaluate the outputs of a program. Arguments and errors are those of `evaluate`, which runs each
    kernel.

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
    # every input gets the common type, or a loop that reads a single array would compute in its type
    arrays |= {argument.name: arrays[argument.name].astype(number) for argument in program.inputs}
    arrays |= {
        name: np.array([constant(x) for x in values], number) for name, values in program.tables.items()
    }
    sizes = {**program.scratch, **{output.name: output.size for output in program.outputs}}
    arrays |= {name: np.zeros((*leading, size), number) for name, size in sizes.items()}
    for loop in program.loops:
        _run_loop(loop, arrays, elementary)
        if number.kind == "O" and not loop.reads:  # no input tells the type of the loop's constants
            for access in loop.writes.values():
                at = positions(access, slice(None))
                arrays[access.array][..., at] = np.frompyfunc(constant, 1, 1)(arrays[access.array][..., at])
    return {output.name: arrays[output.name].reshape((*leading, *output.shape)) for output in program.outputs}


def _run_loop(loop: Loop, arrays: dict[str, npt.NDArray[Any]], elementary: Elementary | None) -> None:
    if loop.kernel.lanes > 1:
        _run_lanes(loop, arrays, elementary)
        return
    runs = [slice(0, loop.count)] if loop.vectorisable else [slice(k, k + 1) for k in range(loop.count)]
    for these in runs:
        values = {
            name: arrays[access.array][..., positions(access, these)] for name, access in loop.reads.items()
        }
        results = evaluate(loop.kernel, values, elementary)
        for name, access in loop.writes.items():
            rank = len(_shape(loop.kernel, name))
            leading = results[name].shape[: results[name].ndim - rank]
            flat = results[name].reshape((*leading, -1))
            arrays[access.array][..., positions(access, these)] = flat


def _run_lanes(loop: Loop, arrays: dict[str, npt.NDArray[Any]], elementary: Elementary | None) -> None:
    """Evaluate all lanes at once, along an axis of their own."""
    every = slice(None)
    values = {
        name: arrays[access.array][..., positions(access, every)] for name, access in loop.reads.items()
    }
    results = evaluate(loop.kernel, values, elementary)
    for name, access in loop.writes.items():
        own = results[name] if len(access.offsets) > 1 else results[name][..., :1, :]
        arrays[access.array][..., positions(access, every)] = own


def _shape(graph: Graph, output: str) -> tuple[int, ...]:
    return next(array.shape for array in graph.outputs if array.name == output)


def positions(access: Access, runs: slice) -> npt.NDArray[np.intp]:
    """Positions of the elements in these runs, (runs, elements); one run for an array that all share."""
    offsets = access.offsets if access.shared else access.offsets[runs]
    return np.add.outer(np.array(offsets, np.intp), np.array(access.elements, np.intp))
