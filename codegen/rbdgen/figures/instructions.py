"""The effect of an instruction on the flow of control, read from its disassembly; one row per
architecture.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rbdgen.errors import BuildError

INDIRECT: Final = "(computed address)"
"""The callee of a call through a register."""

LOCAL: Final = ".L"
"""The prefix of labels that assemblers make inside a function."""


@dataclass(frozen=True)
class Instruction:
    """One line of a disassembly.

    `relocations` has (kind, symbol) for each address that the linker will fill in.
    """

    address: int
    mnemonic: str
    operands: str
    relocations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Architecture:
    """The branches of an instruction set: patterns for `mnemonic operands`."""

    formats: re.Pattern[str]
    padding: re.Pattern[str]
    """Literal words and alignment, which straight-line code never executes."""
    conditional: re.Pattern[str]
    """Instructions that may continue at one of two places."""
    jump: re.Pattern[str]
    """Instructions that always continue elsewhere, except returns."""
    call: re.Pattern[str]
    """Calls, after which execution continues with the next instruction."""
    indirect: re.Pattern[str]
    """Calls and jumps to a computed address."""
    returns: re.Pattern[str]
    """Instructions that return."""
    call_relocations: re.Pattern[str]
    """The relocations that name a function that is called or jumped to."""


_ARM_CONDITIONS: Final = "(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)"

_ARCHITECTURES: Final = (
    Architecture(
        formats=re.compile(r"elf32-littlearm"),
        padding=re.compile(r"\.(word|short|byte)|nop"),
        conditional=re.compile(
            rf"b{_ARM_CONDITIONS}(\.[nw])? |cbn?z |tb[bh] |le(tp)? |wls(tp)?|bx{_ARM_CONDITIONS} "
            rf"|(pop|ldm\w*|ldr){_ARM_CONDITIONS}\S* .*\bpc\b"
        ),
        jump=re.compile(r"b(\.[nw])? "),
        call=re.compile(r"bl(\.w)? "),
        indirect=re.compile(r"blx |bx (?!lr)|(mov|add)\S* pc,|ldr\S* pc, \[(?!sp\])"),
        returns=re.compile(r"bx lr|(pop|ldm\S*) .*\bpc\b|ldr\S* pc, \[sp\]"),
        call_relocations=re.compile(r"R_ARM_THM_(CALL|JUMP24)$"),
    ),
    Architecture(
        formats=re.compile(r"elf(32|64)-x86-64"),
        padding=re.compile(r"(data16 |cs )*(nop|xchg +%ax,%ax)"),
        conditional=re.compile(r"j(?!mp)\w+ "),
        jump=re.compile(r"(notrack )?jmp "),
        call=re.compile(r"call "),
        indirect=re.compile(r"(notrack )?(call|jmp) +\*"),
        returns=re.compile(r"(repz |bnd )?ret"),
        call_relocations=re.compile(r"R_X86_64_(PLT32|PC32\.call)$"),
    ),
    Architecture(
        formats=re.compile(r"elf(32|64)-littleriscv"),
        padding=re.compile(r"\.|nop|c\.nop|unimp"),
        conditional=re.compile(r"b(eq|ne|lt|ge|gt|le)\w* "),
        jump=re.compile(r"j "),
        call=re.compile(r"jal "),
        indirect=re.compile(r"(jalr|jr) (?!ra$|.*#)"),  # with "#", objdump has found the address from auipc
        returns=re.compile(r"ret$|ret |(jr|c\.jr) ra$"),
        call_relocations=re.compile(r"R_RISCV_(CALL|CALL_PLT|JAL|RVC_JAL|RVC_JUMP)$"),
    ),
)

_TARGET: Final = re.compile(r"\b([0-9a-f]+) <([^>+]+)(\+0x[0-9a-f]+)?>")


def architecture_of(text: str) -> Architecture:
    """The architecture whose format name is in the first lines of objdump's output `text`."""
    for architecture in _ARCHITECTURES:
        if architecture.formats.search(text[:500]):
            return architecture
    raise BuildError(
        "objdump reports an object format that figures are not taken of; use Arm, RISC-V or x86-64 tools"
    )


@dataclass(frozen=True)
class Flow:
    """The addresses to which an instruction may lead."""

    callee: str | None = None
    """The function that is called, or jumped to at the end."""
    conditional: bool = False
    back: int | None = None
    """The target of a backward branch, which closes a loop."""
    ahead: int | None = None
    """The target of a forward branch."""
    ends: bool = False
    """Whether the function may end there: it returns, or jumps to another function."""

    @property
    def backward(self) -> bool:
        return self.back is not None


def flow_of(architecture: Architecture, function: str, instruction: Instruction) -> Flow:
    """The effect of `instruction`, a part of `function`, on the flow of control."""
    text = f"{instruction.mnemonic} {instruction.operands}"
    named = [
        symbol
        for kind, symbol in instruction.relocations
        if architecture.call_relocations.match(kind) and not symbol.startswith(LOCAL)
    ]
    conditional = bool(architecture.conditional.match(text))
    leaves = conditional or bool(architecture.jump.match(text))
    if named and named[0] != function:
        return Flow(callee=named[0], conditional=conditional, ends=leaves)
    if architecture.indirect.match(text):
        return Flow(callee=INDIRECT)
    calls = bool(architecture.call.match(text))
    if not (leaves or calls):
        return Flow(ends=bool(architecture.returns.match(text.strip())))
    target = _TARGET.search(instruction.operands)
    if target is None:
        return Flow(callee=None if conditional else INDIRECT, conditional=conditional, ends=leaves)
    if calls or not (target[2] == function or target[2].startswith(LOCAL)):
        return Flow(callee=target[2], conditional=conditional, ends=leaves)
    address = int(target[1], 16)
    if address <= instruction.address:
        return Flow(conditional=conditional, back=address)
    return Flow(conditional=conditional, ahead=address)
