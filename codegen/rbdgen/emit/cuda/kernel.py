"""The kernel of a function: its statements, its block of threads and its shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from rbdgen.emit.cuda.fused import fused
from rbdgen.emit.cuda.printer import Text, print_inline, print_line, row_of, rows_of, style_of
from rbdgen.emit.cuda.stages import LONGEST, print_stages
from rbdgen.emit.cuda.tiles import LANES, ROOM
from rbdgen.emit.cuda.warps import print_warps
from rbdgen.emit.real import real_type
from rbdgen.emit.tools import FORMS, Kernels
from rbdgen.errors import EmitError
from rbdgen.graph.cost import live_counts
from rbdgen.graph.node import Graph
from rbdgen.graph.passes import depth_first
from rbdgen.graph.passes.schedule import close_to_order
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.unrolled import unrolled
from rbdgen.machine import PLAIN_SHARED, REAL_BYTES, Real
from rbdgen.signature import Rolling

LINE, WARPS, STAGES = FORMS
"""A thread computes a state in one straight line; the warps of a block share its 32 states; a thread computes
a state in stages."""

_REGISTERS: Final = 256
"""The 32-bit words of values that may be alive at once in the form `line`. A thread has 255 registers. With
NVRTC 13.5 for sm_90, straight lines up to this number spill at most a few bytes, and nearly all beyond it
spill thousands."""

_MANY: Final = 6_000
"""The number of operations from which on 8 warps share a block's states in place of 4."""

_STATES: Final = (128, 64, 32)
"""The states of a block, from the number that is taken first; `warps` takes the last one."""


_VARIABLES: Final = frozenset(
    ("states", "first", "count", "state", "warp", "lane", "rest", "exchange", "waiting")
)
"""The variables of kernels besides those of statements."""

_OF_STEPS: Final = frozenset(("steps", "last", "step"))
"""The further variables of kernels of integration steps."""


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
    after: str = ""
    """The output that replaces this input from the second step of a rollout on; empty if there is none."""
    each: str = ""
    """The distance between its values for two steps, as an expression of C; empty if it has one value for all
    steps."""

    @property
    def step(self) -> str:
        """The argument of the kernel for the distance between two rows."""
        return f"{self.name}_step"

    @property
    def own_each(self) -> str:
        """The argument of the kernel for the distance `each`; empty if there is none."""
        return self.each if self.each == f"{self.name}_each" else ""


@dataclass(frozen=True)
class Kernel:
    """A kernel as the template places it."""

    symbol: str
    file: str
    """The path of its file in the folder."""
    form: str
    text: Text
    inputs: tuple[Rows, ...]
    outputs: tuple[Rows, ...]
    threads: int
    """The number of threads of a block."""
    states: int
    """The number of states of a block."""
    exchange: int
    """The index in shared memory at which the values begin that warps hand over to each other."""
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
    inline: tuple[str, ...]
    """The statements of the function that other people's kernels call."""
    header: str
    """The path of the file with this function in the folder."""
    rolling: Rolling | None
    """The description of the rollouts that the kernel computes; None if it is no integration step's."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the kernel's arguments, in order. Those that are not arrays are integers of 64
        bits."""
        found = ["states", *(("steps", "last") if self.rolling else ())]
        for rows in self.inputs:
            found += [rows.name, rows.step, *([rows.own_each] if rows.own_each else [])]
        return (*found, *(rows.name for rows in self.outputs))

    def declarations(self, real: str) -> Iterator[str]:
        """The declarations of the arguments; `real` is the type of numbers."""
        kinds = {x.name: f"const {real} *__restrict__ " for x in self.inputs}
        kinds |= {y.name: f"{real} *__restrict__ " for y in self.outputs}
        return (f"{kinds.get(name, 'long long ')}{name}" for name in self.arguments)

    @property
    def device(self) -> str:
        """The name of the function that other people's kernels call."""
        return f"{self.symbol.removesuffix('_kernel')}_device"

    def facts(self) -> dict[str, Any]:
        """The facts of the kernel for the manifest."""
        return {
            "kernel": self.symbol,
            "arguments": list(self.arguments),
            "source": self.file,
            "device": self.device,
            "header": self.header,
            "form": self.form,
            "order": self.order,
            "operations": self.operations,
            "threads": self.threads,
            "states_per_block": self.states,
            "shared_bytes": self.shared_bytes,
        }


def kernel_of(
    robot: str,
    symbol: str,
    program: Program,
    real: Real,
    nesting: int,
    kernels: Kernels,
    rolling: Rolling | None = None,
) -> Kernel:
    """The kernel of a function.

    Args:
        robot: the name of the robot, the prefix of shared functions.
        symbol: the C name of the function.
        program: the program for one state.
        real: the type of numbers.
        nesting: as for statements of C.
        kernels: the style of kernels.
        rolling: the description of the function's rollouts; None if it is no integration step.

    Raises:
        EmitError: a block has too little shared memory, an argument has the name of a variable, or the
            statements cannot be printed.
    """
    line = unrolled(program)
    order, graph = _fewest_alive(fused(line) if kernels.fused else line)
    function = symbol.removeprefix(f"{robot}_")
    for name in (*(x.name for x in graph.inputs), *(y.name for y in graph.outputs)):
        if name in _VARIABLES or (rolling and name in _OF_STEPS):
            raise EmitError(
                f"function '{function}': an argument named '{name}' would hide a variable of its kernel; "
                "rename it"
            )
    asked = kernels.forms.get(function)
    style = style_of(robot, real_type(real), nesting)
    inline = print_inline(graph, style, robot)
    least: Kernel | None = None
    for form in [asked] if asked else _forms(graph, REAL_BYTES[real]):
        if form == WARPS:
            text = print_warps(graph, style, robot, _warps(graph))
        elif form == STAGES:
            text = print_stages(graph, style, robot, symbol)
        else:
            text = print_line(graph, style, robot)
        kernel = _placed(symbol, graph, form, text, REAL_BYTES[real], order, inline, rolling)
        if kernel.shared_bytes <= kernels.shared:
            return kernel
        if least is None or kernel.shared_bytes < least.shared_bytes:
            least = kernel
    assert least is not None
    raise EmitError(
        f"function '{function}' needs {least.shared_bytes} bytes of shared memory for {least.states} states, "
        f"and a block has at most {kernels.shared}; leave it out"
    )


def _forms(graph: Graph, size: int) -> list[str]:
    """The form of a kernel, and the one that is taken if shared memory is short.

    A line whose values fit into registers takes the fewest instructions. The warps of a block spill nothing
    where a line would, but together they take 1.4 to 1.9 times as many instructions, and compilers take twice
    as long. Longer functions are cut into stages for these reasons. `size` is the bytes of a number.
    """
    if max(live_counts(graph), default=0) * size <= _REGISTERS * 4:
        return [LINE, STAGES]
    return [WARPS, STAGES] if _operations(graph) <= LONGEST else [STAGES]


def _warps(graph: Graph) -> int:
    return 8 if _operations(graph) > _MANY else 4


def _operations(graph: Graph) -> int:
    """The number of operations, without negations, which cost nothing as operands."""
    return sum(graph.nodes[k].op != "neg" for k in graph.live() if graph.nodes[k].args)


def _placed(
    symbol: str,
    graph: Graph,
    form: str,
    text: Text,
    size: int,
    order: str,
    inline: tuple[str, ...],
    rolling: Rolling | None,
) -> Kernel:
    """The kernel with its block of threads and its shared memory. `size` is the bytes of a number."""
    numbers = sum(x.size for x in graph.inputs) + text.slots
    tile_numbers = text.rooms * ROOM
    shared = {n: size * (n * numbers + n // LANES * tile_numbers) for n in _STATES}
    fitting = [n for n in _STATES if shared[n] <= PLAIN_SHARED]
    states = fitting[0] if fitting and form != WARPS else LANES
    begins = _begins(graph, states)
    inputs = tuple(
        Rows(x.name, x.size, row_of(x.name), next(begins), x.name in text.read, *_rolled(graph, k, rolling))
        for k, x in enumerate(graph.inputs)
    )
    return Kernel(
        f"{symbol}_kernel",
        f"cuda/{symbol}.cu",
        form,
        text,
        inputs,
        tuple(Rows(y.name, y.size, rows_of(y.name), 0, used=True) for y in graph.outputs),
        states * len(text.lines) if form == WARPS else states,
        states,
        states * sum(x.size for x in graph.inputs),
        states * numbers,
        tile_numbers,
        shared[states],
        order,
        _operations(graph),
        any(graph.nodes[k].op in ("sin", "cos") for k in graph.live()),
        inline,
        f"cuda/{symbol}.cuh",
        rolling,
    )


def _rolled(graph: Graph, k: int, rolling: Rolling | None) -> tuple[str, str]:
    """The fields `after` and `each` of input k."""
    if rolling is not None:
        if k < rolling.state:
            return graph.outputs[k].name, ""
        if k == rolling.control:
            return "", str(graph.inputs[k].size)
        if k in rolling.further:
            return "", f"{graph.inputs[k].name}_each"
    return "", ""


def _begins(graph: Graph, states: int) -> Iterator[int]:
    """The indices in shared memory at which the rows of the inputs begin."""
    begin = 0
    for x in graph.inputs:
        yield begin
        begin += states * x.size


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
