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
from functools import cached_property
from pathlib import Path
from typing import Final

from rbdgen.errors import BuildError
from rbdgen.figures.flow import Code, counted_loops, executed
from rbdgen.figures.instructions import LOCAL, Architecture, Instruction, architecture_of, flow_of


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
    code: Code
    """All instructions, without literal words."""
    exported: bool

    @property
    def calls(self) -> tuple[str, ...]:
        """The called function of every call site."""
        return tuple(flow.callee for _, flow in self.code if flow.callee is not None)

    @property
    def conditional_branches(self) -> int:
        return sum(flow.conditional for _, flow in self.code)

    @property
    def backward_branches(self) -> int:
        return sum(flow.backward for _, flow in self.code)

    @cached_property
    def loops(self) -> int | None:
        """The number of counted loops; None if there are other branches."""
        return counted_loops(self.code)

    @property
    def instructions(self) -> int:
        """The instructions that a call executes in this function if each loop runs once."""
        return sum(executed(self.code, [1] * (self.loops or 0)) or ())


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
            if function.loops != (len(loops) if function.name == name else 0):
                raise BuildError(f"{function.name}: it branches, so the number of instructions is not fixed")
        self._stack(name, ())  # recursion
        return self._executed(name, loops)

    def _executed(self, name: str, loops: Sequence[int] = ()) -> int:
        function = self.functions[name]
        counts = executed(function.code, loops)
        assert counts is not None
        inner = {callee: self._executed(callee) for callee in {*function.calls} & self.functions.keys()}
        calls = zip(counts, (flow.callee for _, flow in function.code), strict=True)
        return sum(counts) + sum(count * inner.get(callee or "", 0) for count, callee in calls)

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
    lines = [i for i in code if not architecture.padding.match(f"{i.mnemonic} {i.operands}")]
    return FunctionFigures(
        symbol.name,
        text=symbol.size,
        constants=constants,
        frame=frame,
        code=tuple((i.address, flow_of(architecture, symbol.name, i)) for i in lines),
        exported=symbol.exported,
    )


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
