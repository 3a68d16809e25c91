"""The module that makes models for acados of the CasADi functions of the folder."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdgen.emit.coordinates import TANGENT, Q, to_coordinates
from rbdgen.emit.folder import Folder
from rbdgen.emit.motions import MovingFunction, driven, moving_functions
from rbdgen.emit.text import filled
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.node import Graph
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedArgument


def files(folder: Folder) -> dict[str, str]:
    """The module, by path. Its functions call the library of the CasADi functions."""
    manifold = folder.facts.manifold
    found = [_row(folder, moving) for moving in moving_functions(folder)]
    text = filled(
        "acados/model.py.jinja",
        robot=folder.robot,
        rows=found,
        default=found[0]["name"],
        driven=driven(folder),
        neutral=manifold.neutral().tolist(),
        quaternions=manifold.quaternions,
        rates=[] if manifold.flat else _rates(manifold),
    )
    return {f"acados/{folder.name}_acados.py": text}


def _row(folder: Folder, moving: MovingFunction) -> dict[str, Any]:
    signature, motion = moving.signature, moving.motion
    return {
        "name": moving.name,
        "symbol": f"{moving.function.shown.symbol}_x1",
        "discrete": motion.discrete,
        "inputs": [_input(x) for x in signature.inputs],
        "control": motion.control,
        "time_step": motion.time_step,
        "further": list(motion.further),
    }


def _input(x: SizedArgument) -> dict[str, Any]:
    """An input; CasADi takes matrices as columns, so that values are given by rows and transposed."""
    rows, columns = (*x.shape, 1, 1)[:2]
    return {
        "name": x.name,
        "rows": rows,
        "columns": x.size // rows if x.size else columns,
        "default": None if x.default is None else list(x.default),
    }


def _rates(manifold: Manifold) -> list[str]:
    """Statements of Python that compute dq/dt of q and v, as a list `rate`.

    The rows of dv/d(dq/dt) are orthogonal for all joints, and their lengths do not depend on q, so that its
    pseudo-inverse is its transpose with divided columns.
    """
    graph = to_coordinates(manifold)
    squares = [
        float(np.sum(evaluate(graph, {Q: manifold.neutral()[None], TANGENT: row[None]})["row"] ** 2))
        for row in np.eye(manifold.nv)
    ]
    return _statements(graph, squares)


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def _statements(graph: Graph, squares: list[float]) -> list[str]:
    """The graph as statements; elements of the tangent space are divided by `squares`."""
    sizes = [(x.name, x.size) for x in graph.inputs]
    places = [(name, k) for name, size in sizes for k in range(size)]
    lines = []
    for number, node in enumerate(graph.nodes):
        args = [f"x{k}" for k in node.args]
        if node.op == "input":
            name, k = places[int(node.value)]
            value = f"q[{k}]" if name == Q else f"v[{k}] / {squares[k]!r}"
        elif node.op == "const":
            value = repr(node.value)
        elif node.op in _INFIX:
            value = f" {_INFIX[node.op]} ".join(args)
        elif node.op == "neg":
            value = f"-{args[0]}"
        elif node.op == "sq":
            value = f"{args[0]} * {args[0]}"
        else:
            value = f"ca.{node.op}({args[0]})"
        lines.append(f"x{number} = {value}")
    (output,) = graph.outputs
    lines.append(f"rate = [{', '.join(f'x{k}' for k in output.elements)}]")
    return lines
