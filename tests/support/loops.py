"""Hand-made programs with all kinds of loops: over columns and rows, along a tree, in place, with one run."""

from __future__ import annotations

from typing import Any

from rbdgen.access import Access, column, whole
from rbdgen.emit.package import FunctionSource
from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import Loop, Program, Result
from rbdgen.pipeline.design import batch_program
from rbdgen.signature import SizedArgument, SizedSignature

ROWS, COLUMNS = 3, 20
PARENTS = (0, 1, 1, 3, 0)


def line(sizes: dict[str, int], equations: Any) -> Graph:
    """The graph of `equations`, which maps arrays of symbols by name to arrays of expressions by name."""
    builder = Builder()
    arrays = {name: builder.input(name, size) for name, size in sizes.items()}
    results: dict[str, list[Expr]] = equations(**arrays)
    return builder.graph([(name, (len(values),), values) for name, values in results.items()])


def solve(factor: Any, b: Any) -> dict[str, list[Any]]:
    """Solves a unit lower triangular system of three equations."""
    x0 = b[0] * factor[3]
    x1 = b[1] - factor[0] * x0
    return {"x": [x0, x1, b[2] - factor[1] * x0 - factor[2] * x1]}


def program() -> Program:
    """A program that computes sines, solves for columns of M and of a table, visits a tree, and sums in
    place."""
    prepared = line({"s": 4}, lambda s: {"factor": [s[0].sin(), s[1].cos(), s[2] * s[3], 1.5 + s[0] * s[0]]})
    solved = line({"factor": 4, "b": ROWS}, solve)
    step = line(
        {"parent": 2, "own": 1}, lambda parent, own: {"child": [parent[0] * own[0], parent[1] - own[0]]}
    )
    added = line(
        {"start": 2, "factor": 4}, lambda start, factor: {"end": [start[0] + factor[0], start[1] + factor[1]]}
    )
    factor = whole("factor", 4)
    children = tuple(2 * (k + 1) for k in range(len(PARENTS)))
    zeros = tuple((0, 1) if k % 5 < 2 else () for k in range(COLUMNS))
    root = line({}, lambda: {"root": [1.0, -0.25]})
    return Program(
        (Input("s", 4), Input("M", ROWS * COLUMNS)),
        (Result("X", (ROWS, COLUMNS)), Result("I", (ROWS, ROWS)), Result("tree", (len(PARENTS) + 1, 2))),
        (
            Loop("prepare", prepared, {"s": whole("s", 4)}, {"factor": factor}),
            Loop(
                "solve",
                solved,
                {"factor": factor, "b": column("M", ROWS, COLUMNS, range(COLUMNS))},
                {"x": column("X", ROWS, COLUMNS, range(COLUMNS))},
                COLUMNS,
                {"b": zeros},
            ),
            Loop(
                "solve",
                solved,
                {"factor": factor, "b": column("identity", ROWS, ROWS, range(ROWS))},
                {"x": column("I", ROWS, ROWS, range(ROWS))},
                ROWS,
            ),
            Loop("root", root, {}, {"root": Access("tree", (0, 1))}),
            Loop(
                "step",
                step,
                {
                    "parent": Access("tree", (0, 1), tuple(2 * parent for parent in PARENTS)),
                    "own": Access("lengths", (0,), tuple(range(len(PARENTS)))),
                },
                {"child": Access("tree", (0, 1), children)},
                len(PARENTS),
            ),
            Loop(
                "add",
                added,
                {"start": Access("tree", (4, 5)), "factor": factor},
                {"end": Access("tree", (4, 5))},
            ),
        ),
        {"factor": 4},
        {
            "identity": tuple(1.0 if i == k else 0.0 for i in range(ROWS) for k in range(ROWS)),
            "lengths": (0.5, -1.25, 0.3, 2.0, 0.1),
        },
    )


def source(made: Program) -> FunctionSource:
    signature = SizedSignature(
        "looped",
        tuple(SizedArgument(x.name, (x.size,), "", "anything") for x in made.inputs),
        tuple(SizedArgument(x.name, x.shape, "", "anything") for x in made.outputs),
    )
    batch = batch_program(made)
    return FunctionSource(
        signature, made, "looped", "as given", made.cost, "loops of every kind", batch=batch
    )


def looped() -> FunctionSource:
    """`program` as a function."""
    return source(program())


WIDE = 20


def in_rows() -> Program:
    """A program that computes rows of a matrix from columns of another, and entries right of the diagonal."""
    sums = line({"x": 3}, lambda x: {"y": [x[0] + x[1], x[1] * x[2], x[2] - x[0]]})
    doubled = line({"x": 1}, lambda x: {"y": [x[0] + x[0]]})
    entry = line({"row": 1, "column": 1}, lambda row, column: {"entry": [row[0] * column[0] - row[0]]})
    nothing = line({}, lambda: {"zero": [0.0]})
    pairs = [(i, j) for i in range(WIDE) for j in range(i + 1, WIDE)]
    runs = tuple(range(WIDE))
    places = tuple(WIDE * i + j for i, j in pairs)
    return Program(
        (Input("M", 3 * WIDE),),
        (Result("Y", (WIDE, 4)), Result("T", (WIDE, WIDE))),
        (
            Loop("clear", nothing, {}, {"zero": Access("Y", (0,), tuple(range(4 * WIDE)))}, 4 * WIDE),
            Loop("clear", nothing, {}, {"zero": Access("T", (0,), tuple(range(WIDE**2)))}, WIDE**2),
            Loop(
                "twice", doubled, {"x": Access("M", (WIDE,), runs)}, {"y": Access("early", (0,), runs)}, WIDE
            ),
            Loop(
                "turn",
                sums,
                {"x": column("M", 3, WIDE, runs)},
                {"y": Access("Y", (0, 1, 2), tuple(4 * k for k in runs))},
                WIDE,
            ),
            Loop(
                "twice", doubled, {"x": Access("early", (0,), runs)}, {"y": Access("kept", (0,), runs)}, WIDE
            ),
            Loop("twice", doubled, {"x": Access("M", (0,), runs)}, {"y": Access("late", (0,), runs)}, WIDE),
            Loop(
                "entries",
                entry,
                {
                    "row": Access("late", (0,), tuple(i for i, _ in pairs)),
                    "column": Access("kept", (0,), tuple(j for _, j in pairs)),
                },
                {"entry": Access("T", (0,), places)},
                len(pairs),
            ),
        ),
        {"early": WIDE, "kept": WIDE, "late": WIDE},
    )
