"""The cost of compiled code: flash, worst-case stack, instructions, and what it needs from elsewhere.

All figures are read from the object with the compiler's own tools (`objdump`), and from the stack report that
gcc and clang write with `-fstack-usage` beside the object (`NAME.su`). Nothing is run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

from rbdgen.errors import BuildError
from rbdgen.figures.instructions import LOCAL, Architecture, Flow, Instruction, architecture_of, flow_of


@dataclass(frozen=True)
class CompiledLoop:
    """Code that a conditional backward branch repeats: its addresses, instructions and calls. Loops inside
    count once.
    """

    first: int
    last: int
    instructions: int
    calls: tuple[str, ...]

    def inside(self, other: CompiledLoop) -> bool:
        """Whether the other loop repeats this one."""
        return other.first <= self.first and self.last < other.last


@dataclass(frozen=True)
class FunctionFigures:
    """One function of an object, without the functions that it calls."""

    name: str
    text: int
    """Bytes of code, including its literal words."""
    constants: Mapping[tuple[str, str], int]
    """Bytes of each read-only section to which it refers."""
    frame: int | None
    """Bytes of its stack frame; None if it has no bound."""
    instructions: int
    """The instructions that are executed if the code is straight-line code, where loops count once."""
    calls: tuple[str, ...]
    """The called function of every call site."""
    conditional_branches: int
    backward_branches: int
    exported: bool
    loops: tuple[CompiledLoop, ...] = ()
    """The loops of the function in the order of their ends, so inner loops come before outer ones."""
    plain_jumps: bool = True
    """Whether unconditional forward jumps skip only code that neither branches nor calls."""

    def counted(self, loops: int) -> bool:
        """Whether all branches close loops, and there are `loops` loops, one after the other or one inside
        the other.
        """
        apart = all(a.last < b.first or a.inside(b) for a, b in combinations(self.loops, 2))
        closing = self.conditional_branches == self.backward_branches == len(self.loops) == loops
        return closing and apart and self.plain_jumps

    def entered(self, runs: Sequence[int]) -> list[int]:
        """How often each loop is entered, if the loops run so many times in all."""
        found = []
        for k, loop in enumerate(self.loops):
            around = (n for other, n in zip(self.loops[k:], runs[k:], strict=True) if loop.inside(other))
            found.append(next(around, 1))
        return found


@dataclass(frozen=True)
class Figures:
    """All functions of some objects that are linked together."""

    functions: Mapping[str, FunctionFigures]
    data: int
    """Bytes of initialised writable globals."""
    bss: int
    """Bytes of zero-initialised writable globals."""
    undefined: frozenset[str]
    """Symbols that must come from elsewhere."""

    def reached(self, name: str) -> tuple[FunctionFigures, ...]:
        """The function and all functions that it calls, directly or not, as far as they are in these
        objects.
        """
        found: dict[str, FunctionFigures] = {}
        waiting = [name]
        while waiting:
            function = self._function(waiting.pop())
            if function.name not in found:
                found[function.name] = function
                waiting.extend(callee for callee in function.calls if callee in self.functions)
        return tuple(found.values())

    def outside(self, name: str) -> frozenset[str]:
        """The functions that it calls, directly or not, that are not in these objects, such as sinf."""
        return frozenset(c for f in self.reached(name) for c in f.calls if c not in self.functions)

    def flash(self, name: str) -> int:
        """Bytes of code and constants of the function and of the functions in these objects that it calls."""
        reached = self.reached(name)
        constants = {section: size for f in reached for section, size in f.constants.items()}
        return sum(f.text for f in reached) + sum(constants.values())

    def stack(self, name: str) -> int:
        """The worst-case stack of a call in bytes, including the functions in these objects that it calls.

        Raises BuildError if it has no bound: for recursion, or if a frame has a size known only at run time.
        """
        return self._stack(name, ())

    def _stack(self, name: str, callers: tuple[str, ...]) -> int:
        function = self._function(name)
        if name in callers:
            raise BuildError(f"{name}: it calls itself, so its stack has no bound; remove the recursion")
        if function.frame is None:
            raise BuildError(
                f"{name}: the size of its stack frame is not fixed; remove variable-length arrays"
            )
        deeper = {callee for callee in function.calls if callee in self.functions}
        return function.frame + max((self._stack(callee, (*callers, name)) for callee in deeper), default=0)

    def instructions(self, name: str, loops: Sequence[int] = ()) -> int:
        """The instructions that a call executes, including the functions in these objects that it calls.

        `loops` says how often each loop of the function itself runs in all, in the order of their ends.
        Raises BuildError if the number of instructions is not fixed: for a branch, or for another loop.
        """
        for function in self.reached(name):
            if not function.counted(len(loops) if function.name == name else 0):
                raise BuildError(f"{function.name}: it branches, so the number of instructions is not fixed")
        self._stack(name, ())  # recursion
        function = self.functions[name]
        entered = function.entered(loops)
        again = [
            (count - once) * (loop.instructions + self._called(loop.calls))
            for loop, count, once in zip(function.loops, loops, entered, strict=True)
        ]
        return function.instructions + self._called(function.calls) + sum(again)

    def _called(self, calls: Iterable[str]) -> int:
        """The instructions of called functions without branches."""
        inner = [self.functions[callee] for callee in calls if callee in self.functions]
        return sum(function.instructions + self._called(function.calls) for function in inner)

    def _function(self, name: str) -> FunctionFigures:
        if name not in self.functions:
            raise BuildError(f"no function {name} in the object; it holds: {', '.join(self.functions)}")
        return self.functions[name]


def figures(objects: Path | Iterable[Path], prefix: str = "") -> Figures:
    """The figures of object files that belong together.

    `prefix` is that of the cross tools (`arm-none-eabi-`). Beside every `NAME.o` there must be the `NAME.su`
    that the compiler wrote with `-fstack-usage`. Raises BuildError if a tool or a stack report is missing, or
    if the tool refuses the file.
    """
    paths = [objects] if isinstance(objects, Path) else list(objects)
    parts = [_object(path, prefix) for path in paths]
    functions = {name: function for part in parts for name, function in part.functions.items()}
    return Figures(
        functions,
        data=sum(part.data for part in parts),
        bss=sum(part.bss for part in parts),
        undefined=frozenset().union(*(part.undefined for part in parts)) - functions.keys(),
    )


def _object(path: Path, prefix: str) -> Figures:
    sections = _sections(_objdump(prefix, "-h", path))
    symbols = tuple(_symbols(_objdump(prefix, "-t", path, "--special-syms")))
    disassembly = _objdump(prefix, "-drz", path, "--no-show-raw-insn", "-w")
    frames = _frames(path.with_suffix(".su"))
    architecture = architecture_of(disassembly)
    code = _code(disassembly)
    where = {symbol.name: symbol.section for symbol in symbols}
    functions: dict[str, FunctionFigures] = {}
    for symbol in symbols:
        if not symbol.function:
            continue
        reported = _CLONE.sub("", symbol.name)
        if reported not in frames:
            raise BuildError(f"{path}: {symbol.name} is not in the stack report; compile with -fstack-usage")
        referred = {
            where.get(name, name) for line in code.get(symbol.name, ()) for _, name in line.relocations
        }
        constants = {
            (str(path), section.name): section.size
            for section in sections
            if section.name in referred and section.constant
        }
        functions[symbol.name] = _function(
            symbol, constants, frames[reported], architecture, code.get(symbol.name, ())
        )
    common = sum(symbol.size for symbol in symbols if symbol.section == COMMON)
    return Figures(
        functions,
        data=sum(section.size for section in sections if section.writable and section.loaded),
        bss=common + sum(section.size for section in sections if section.writable and not section.loaded),
        undefined=frozenset(symbol.name for symbol in symbols if symbol.section == "*UND*"),
    )


def _function(
    symbol: _Symbol,
    constants: Mapping[tuple[str, str], int],
    frame: int | None,
    architecture: Architecture,
    code: Sequence[Instruction],
) -> FunctionFigures:
    executed = [i for i in code if not architecture.padding.match(f"{i.mnemonic} {i.operands}")]
    flow_at = [(i.address, flow_of(architecture, symbol.name, i)) for i in executed]
    flows = [flow for _, flow in flow_at]
    jumped = {
        at: _skipped(flow_at, at, flow.ahead) for at, flow in flow_at if flow.ahead and not flow.conditional
    }
    loops = []
    for last, closing in flow_at:
        if closing.back is not None and closing.conditional:
            inside = {at: flow for at, flow in flow_at if closing.back <= at <= last}
            calls = tuple(flow.callee for flow in inside.values() if flow.callee is not None)
            over = sum(len(skipped) for at, skipped in jumped.items() if at in inside)
            loops.append(CompiledLoop(closing.back, last, len(inside) - over, calls))
    plain = all(flow.plain for skipped in jumped.values() for flow in skipped)
    return FunctionFigures(
        symbol.name,
        text=symbol.size,
        constants=constants,
        frame=frame,
        instructions=len(executed) - sum(map(len, jumped.values())),
        calls=tuple(flow.callee for flow in flows if flow.callee is not None),
        conditional_branches=sum(flow.conditional for flow in flows),
        backward_branches=sum(flow.backward for flow in flows),
        exported=symbol.exported,
        loops=tuple(loops),
        plain_jumps=plain,
    )


def _skipped(flow_at: Sequence[tuple[int, Flow]], jump: int, target: int) -> list[Flow]:
    """The instructions between a forward jump and its target, without literal words.

    Compilers jump over literal words, and into a loop past instructions that only its later runs need.
    """
    return [flow for at, flow in flow_at if jump < at < target]


def _objdump(prefix: str, option: str, path: Path, *more: str) -> str:
    tool = f"{prefix}objdump"
    if shutil.which(tool) is None:
        raise BuildError(f"{tool}: not found; install the binutils of that compiler")
    done = subprocess.run([tool, option, *more, str(path)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise BuildError(f"{words[0]}; compile the object again")
    return done.stdout


@dataclass(frozen=True)
class _Section:
    name: str
    size: int
    flags: frozenset[str]

    @property
    def loaded(self) -> bool:
        return "LOAD" in self.flags

    @property
    def constant(self) -> bool:
        return self.loaded and "READONLY" in self.flags and "CODE" not in self.flags

    @property
    def writable(self) -> bool:
        return "ALLOC" in self.flags and "READONLY" not in self.flags


_SECTION: Final = re.compile(r"^ +\d+ (\S+) +([0-9a-f]+) .*\n +([A-Z].*)$", re.MULTILINE)


def _sections(text: str) -> tuple[_Section, ...]:
    return tuple(
        _Section(name, int(size, 16), frozenset(re.split(r",\s*", flags.strip())))
        for name, size, flags in _SECTION.findall(text)
    )


COMMON: Final = "*COM*"
"""The section that objdump shows for globals that the linker places; their address is then their size."""


@dataclass(frozen=True)
class _Symbol:
    name: str
    section: str
    size: int
    function: bool
    exported: bool


_SYMBOL: Final = re.compile(
    r"^([0-9a-f]+) (.{7}) (\S+)\t([0-9a-f]+) (?:\.(?:hidden|internal|protected) )?(.+)$", re.MULTILINE
)


def _symbols(text: str) -> Iterator[_Symbol]:
    for value, flags, section, size, name in _SYMBOL.findall(text):
        bytes_taken = int(value if section == COMMON else size, 16)
        yield _Symbol(name, section, bytes_taken, function="F" in flags, exported="g" in flags)


_LABEL: Final = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_LINE: Final = re.compile(r"^ *([0-9a-f]+):\t(\S+)\s*([^\t]*)(.*)$")
_RELOCATION: Final = re.compile(r"\t[0-9a-f]+: (R_\w+)\s+([^\s+-]\S*?)(?=[+-]0x|\t|$)")


def _code(text: str) -> dict[str, tuple[Instruction, ...]]:
    """The instructions of every label of a disassembly made with `-drz -w` (relocations on the same line)."""
    code: dict[str, list[Instruction]] = {}
    here: list[Instruction] = []
    for line in text.splitlines():
        if (label := _LABEL.match(line)) and not label[1].startswith(LOCAL):
            here = code.setdefault(label[1], [])
        elif found := _LINE.match(line):
            address, mnemonic, operands, rest = found.groups()
            relocations = tuple(_RELOCATION.findall(rest))
            here.append(Instruction(int(address, 16), mnemonic, operands.strip(), relocations))
    return {name: tuple(lines) for name, lines in code.items()}


_CLONE: Final = re.compile(r"\.\d+$")
"""gcc numbers the clones of a function in the object, but not in the stack report."""


def _frames(path: Path) -> dict[str, int | None]:
    """The bytes of each function's frame; None if gcc says that they depend on run-time values."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BuildError(f"{path}: no stack report beside the object; compile with -fstack-usage") from error
    frames: dict[str, int | None] = {}
    for line in text.splitlines():
        place, size, kind = line.split("\t")
        name = place.rpartition(":")[2]
        known = frames.get(name, 0)
        frames[name] = None if known is None or kind == "dynamic" else max(known, int(size))
    return frames
