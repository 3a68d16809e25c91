"""The kernel of a function: its statements, its block of threads and its shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from rbdgen.emit.cuda.fused import fused
from rbdgen.emit.cuda.printer import KernelPrinter, row_of, rows_of, style_of
from rbdgen.emit.cuda.tiles import LANES, ROOM
from rbdgen.emit.real import real_type
from rbdgen.errors import EmitError
from rbdgen.graph.cost import live_counts
from rbdgen.graph.node import Graph
from rbdgen.graph.passes import depth_first
from rbdgen.graph.passes.schedule import close_to_order
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.machine import REAL_BYTES, Real

LONGEST: Final = 20_000
"""The largest number of operations of a kernel. Compilers of CUDA take minutes for longer straight lines, and
nearly all of their values wait in memory."""

WITHOUT_ASKING: Final = 48 * 1024
"""The bytes of shared memory that a block has unless the program that launches it asks for more."""

MOST_SHARED: Final = 227 * 1024
"""The bytes of shared memory that a block has at most, on any architecture."""

_THREADS: Final = (128, 64, 32)
"""The threads of a block, from the number that is taken first."""


@dataclass(frozen=True)
class Rows:
    """An array of a kernel: one row for each state."""

    name: str
    size: int
    pointer: str
    """The name of the variable that points to the rows of the block or of the warp."""
    begin: int
    """The index in shared memory at which the rows of an input begin."""
    used: bool
    """Whether a statement reads it."""


@dataclass(frozen=True)
class Kernel:
    """A kernel as the template places it."""

    symbol: str
    file: str
    """The path of its file in the folder."""
    statements: tuple[str, ...]
    inputs: tuple[Rows, ...]
    outputs: tuple[Rows, ...]
    threads: int
    """The number of threads of a block, one for each state."""
    tiles: int
    """The index in shared memory at which the tiles begin."""
    tile_numbers: int
    """The numbers in shared memory in which the tiles of a warp wait."""
    shared_bytes: int
    """The bytes of shared memory of a block."""
    order: str
    """The order of the statements that was chosen."""
    operations: int
    """The number of operations, where a fused product and sum count as one."""
    sines: bool
    """Whether it computes sines or cosines."""

    def facts(self) -> dict[str, Any]:
        """The facts of the kernel for the manifest."""
        return {
            "kernel": self.symbol,
            "source": self.file,
            "form": "line",
            "order": self.order,
            "operations": self.operations,
            "threads": self.threads,
            "states": self.threads,
            "shared_bytes": self.shared_bytes,
        }


def kernel_of(robot: str, symbol: str, program: Program, real: Real, nesting: int, *, fuse: bool) -> Kernel:
    """The kernel of a function.

    Args:
        robot: the name of the robot, the prefix of shared functions.
        symbol: the C name of the function.
        program: the program for one state.
        real: the type of numbers.
        nesting: as for statements of C.
        fuse: whether products and sums are fused; otherwise results have the bits of the C.

    Raises:
        EmitError: the function is too long, a block has too little shared memory, or the statements cannot be
            printed.
    """
    line = unrolled(program)
    if len(operations := [k for k in line.live() if line.nodes[k].args]) > LONGEST:
        raise EmitError(
            f"function '{symbol.removeprefix(robot + '_')}' is a straight line of {len(operations)} "
            f"operations, and a kernel of CUDA has at most {LONGEST}; leave it out, or ask for products "
            "with derivatives, such as aba_vjp, in place of whole matrices of derivatives"
        )
    order, graph = _fewest_alive(fused(line) if fuse else line)
    printer = KernelPrinter(graph, style_of(robot, real_type(real), nesting), robot)
    printer.print_all()
    size = REAL_BYTES[real]
    numbers = sum(x.size for x in graph.inputs)
    tile_numbers = printer.rooms * ROOM
    shared = {n: size * (n * numbers + n // LANES * tile_numbers) for n in _THREADS}
    threads = next((n for n in _THREADS if shared[n] <= WITHOUT_ASKING), _THREADS[-1])
    if shared[threads] > MOST_SHARED:
        raise EmitError(
            f"function '{symbol.removeprefix(robot + '_')}' needs {shared[threads]} bytes of shared memory "
            f"for {threads} states, and a block has at most {MOST_SHARED}; leave it out"
        )
    begins = _begins(graph, threads)
    return Kernel(
        f"{symbol}_kernel",
        f"cuda/{symbol}.cu",
        tuple(printer.text),
        tuple(
            Rows(x.name, x.size, row_of(x.name), next(begins), x.name in printer.read) for x in graph.inputs
        ),
        tuple(Rows(y.name, y.size, rows_of(y.name), 0, used=True) for y in graph.outputs),
        threads,
        threads * numbers,
        tile_numbers,
        shared[threads],
        order,
        sum(graph.nodes[k].op != "neg" for k in graph.live() if graph.nodes[k].args),
        any(graph.nodes[k].op in ("sin", "cos") for k in graph.live()),
    )


def _begins(graph: Graph, threads: int) -> Iterator[int]:
    """The indices in shared memory at which the rows of the inputs begin."""
    begin = 0
    for x in graph.inputs:
        yield begin
        begin += threads * x.size


def _fewest_alive(graph: Graph) -> tuple[str, Graph]:
    """The order of the nodes in which the fewest values are alive at once, and its name.

    Compilers keep much of the order of a long straight line, and with it the number of values that wait in
    memory because registers are short.
    """
    deep, backwards = depth_first(graph), depth_first(graph, backwards=True)
    orders = {
        "as designed": graph,
        "depth first": deep,
        "depth first, backwards": backwards,
        "close to depth first": close_to_order(deep),
        "close to depth first, backwards": close_to_order(backwards),
    }
    name = min(orders, key=lambda order: max(live_counts(orders[order]), default=0))
    return name, orders[name]
