"""Compiles a function for an emulated board, runs it, and reads bits, stack and executed instructions."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rbdgen.figures.code import Figures, figures
from rbdgen.resources import template_root
from rbdgen.toolchain.targets import Target

HERE = Path(__file__).parent
SUPPORT = template_root() / "board"
TOOLS = ("arm-none-eabi-gcc", "arm-none-eabi-objdump", "qemu-system-arm", "cppcheck", "cmake")
RISCV_TOOLS = ("riscv64-unknown-elf-gcc", "riscv64-unknown-elf-objdump", "qemu-system-riscv32")

STRICT = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-Werror"),
    *("-fstack-usage", "-ffunction-sections", "-fdata-sections"),
)
HARNESS = ("-std=gnu99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")
HOST = ("-O2", "-ffp-contract=off", "-fno-math-errno")


def missing(tools: Sequence[str]) -> tuple[str, ...]:
    """Returns the programs that are missing."""
    return tuple(tool for tool in tools if shutil.which(tool) is None)


@dataclass(frozen=True)
class Board:
    """The emulator of a target: qemu's program and options, start-up code, and addresses of code and data.

    `alignment` is the multiple in bytes to which stack frames are rounded up.
    """

    emulator: str
    options: tuple[str, ...]
    startup: str
    memory: tuple[int, int] = (0x00000000, 0x20000000)
    alignment: int = 8

    def support(self) -> tuple[Path, ...]:
        """The sources that are part of every image."""
        return SUPPORT / self.startup, SUPPORT / "board.c"

    def link_flags(self) -> tuple[str, ...]:
        """The flags that link every image."""
        code, data = self.memory
        return (
            *("-nostartfiles", "-T", str(SUPPORT / "board.ld"), "-Wl,--gc-sections"),
            *(f"-Wl,--defsym=code_at={code:#x},--defsym=data_at={data:#x}", "-lm"),
        )


BOARDS = {
    "cortex-m4f": Board("qemu-system-arm", ("-M", "mps2-an386"), "startup.c"),
    "cortex-m7": Board("qemu-system-arm", ("-M", "mps2-an500"), "startup.c"),
    # These are addresses of the secure state, in which this board starts.
    "cortex-m33": Board("qemu-system-arm", ("-M", "mps2-an505"), "startup.c", (0x10000000, 0x38000000)),
    "cortex-m55": Board("qemu-system-arm", ("-M", "mps3-an547"), "startup.c"),
    "rv32imafc": Board(
        *("qemu-system-riscv32", ("-M", "virt", "-bios", "none"), "startup_riscv.c"),
        memory=(0x80000000, 0x80100000),
        alignment=16,
    ),
}
"""The boards of the embedded targets."""


@dataclass(frozen=True)
class Subject:
    """A C function to run, with the sizes of its `inputs` and `outputs`, and its header in `includes`."""

    function: str
    real: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    sources: tuple[Path, ...]
    folders: tuple[Path, ...]
    includes: str

    def flags(self) -> tuple[str, ...]:
        """The flags for headers and for the type of numbers, for the sources and their callers."""
        return (f"-DREAL={self.real}", *(f"-I{folder}" for folder in self.folders))


@dataclass(frozen=True)
class Image:
    """A program for a board, with the figures of the subject's objects."""

    elf: Path
    objects: tuple[Path, ...]
    figures: Figures


@dataclass(frozen=True)
class Result:
    """A run's results: `bits` of the outputs (cases, elements), and bytes of `stack` of its worst call."""

    bits: np.ndarray
    stack: int

    def values(self) -> np.ndarray:
        """Returns the outputs as numbers."""
        return self.bits.view({4: np.float32, 8: np.float64}[self.bits.itemsize])


def checked(command: Sequence[str | Path], **settings: object) -> str:
    """The standard output of a command; raises an error with its messages if it fails."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, timeout=300, **settings
    )  # type: ignore[call-overload]
    assert done.returncode == 0, (
        f"{command[0]}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    )
    return str(done.stdout)


def write_cases(subject: Subject, inputs: np.ndarray, folder: Path) -> None:
    """Writes `cases.h` of the harness, with the inputs (cases, elements) as exact hexadecimal numbers."""
    suffix = "f" if subject.real == "float" else ""
    rows = ",\n".join("    {" + ", ".join(f"{float(x).hex()}{suffix}" for x in row) + "}" for row in inputs)
    arguments = []
    for name, sizes in (("in", subject.inputs), ("out", subject.outputs)):
        starts = np.cumsum((0, *sizes[:-1]))
        arguments += [f"({name}) + {start}" for start in starts]
    (folder / "cases.h").write_text(
        f"{subject.includes}\n"
        f"enum {{ CASES = {len(inputs)} }};\n"
        f"enum {{ INPUTS = {sum(subject.inputs)}, OUTPUTS = {sum(subject.outputs)} }};\n"
        f"#define CALL(in, out) {subject.function}({', '.join(arguments)})\n"
        f"static const REAL inputs[CASES][INPUTS] = {{\n{rows}}};\n"
    )


def compile_subject(subject: Subject, target: Target, folder: Path) -> tuple[Path, ...]:
    """Compiles the subject for `target` with all warnings as errors, and returns its objects."""
    objects = tuple(folder / f"{source.stem}.o" for source in subject.sources)
    for source, target_file in zip(subject.sources, objects, strict=True):
        checked(
            [f"{target.prefix}gcc", *target.flags, *STRICT, *subject.flags(), "-c", source, "-o", target_file]
        )
    return objects


def build_image(subject: Subject, inputs: np.ndarray, target: Target, folder: Path) -> Image:
    """Compiles and links the subject with the harness for the board of `target`, and returns the image."""
    folder.mkdir(parents=True, exist_ok=True)
    write_cases(subject, inputs, folder)
    objects = compile_subject(subject, target, folder)
    elf, board = folder / f"{subject.function}.elf", BOARDS[target.name]
    compiler = (
        f"{target.prefix}gcc",
        *target.flags,
        *HARNESS,
        *subject.flags(),
        f"-I{folder}",
        f"-I{SUPPORT}",
    )
    sources = (*board.support(), HERE / "harness.c", *objects)
    checked([*compiler, *sources, *board.link_flags(), "-o", elf])
    return Image(elf, objects, figures(objects, target.prefix))


def run_at_home(subject: Subject, inputs: np.ndarray, folder: Path, flags: Sequence[str] = HOST) -> Result:
    """Compiles and runs the same harness and sources on this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    write_cases(subject, inputs, folder)
    program = folder / f"{subject.function}.host"
    checked(
        [
            *("cc", "-std=gnu99", *flags, "-DHOST", *subject.flags(), f"-I{folder}"),
            *(HERE / "harness.c", *subject.sources, "-lm", "-o", program),
        ]
    )
    return _result(checked([program]).splitlines(), subject)


def run(elf: Path, target: Target, traced: Sequence[str] = ()) -> tuple[list[str], dict[str, int]]:
    """Runs an image under qemu; returns its lines and the executed instructions of each traced function.

    It fails unless the image ends by itself with status 0.
    """
    output, log = elf.with_suffix(".out"), elf.with_suffix(".trace")
    board, prefix = BOARDS[target.name], target.prefix
    command = [
        *(board.emulator, *board.options, "-display", "none", "-monitor", "none", "-serial", "none"),
        *("-chardev", f"file,id=s0,path={output}"),
        *("-semihosting-config", "enable=on,target=native,chardev=s0", "-kernel", str(elf)),
    ]
    ranges = {name: _addresses(elf, prefix)[name] for name in traced}
    if ranges:
        spans = ",".join(f"{first:#x}+{size:#x}" for first, size in ranges.values())
        command += [*_one_by_one(board.emulator), "-d", "exec,nochain", "-dfilter", spans, "-D", str(log)]
    checked(command)
    executed = dict.fromkeys(traced, 0)
    if ranges:
        for address in re.findall(r"\[[0-9a-f]+/([0-9a-f]+)/", log.read_text()):
            at = int(address, 16)
            executed[next(n for n, (first, size) in ranges.items() if first <= at < first + size)] += 1
        log.unlink()
    return output.read_text().splitlines(), executed


def run_on_board(
    subject: Subject, image: Image, target: Target, traced: Sequence[str] = ()
) -> tuple[Result, dict[str, int]]:
    """Runs an image that contains the harness."""
    lines, executed = run(image.elf, target, traced)
    return _result(lines, subject), executed


def _result(lines: Sequence[str], subject: Subject) -> Result:
    assert lines[-1:] == ["end"], f"the run was cut short: {lines[-3:]}"
    stacks = [int(line.split()[1], 16) for line in lines if line.startswith("stack")]
    words = [int(line, 16) for line in lines[:-1] if not line.startswith("stack")]
    kind = np.uint32 if subject.real == "float" else np.uint64
    return Result(np.array(words, dtype=kind).reshape(-1, sum(subject.outputs)), max(stacks, default=0))


def _addresses(elf: Path, prefix: str) -> dict[str, tuple[int, int]]:
    lines = [line.split() for line in checked([f"{prefix}nm", "-S", elf]).splitlines()]
    return {line[3]: (int(line[0], 16), int(line[1], 16)) for line in lines if len(line) == 4}


@cache
def _one_by_one(emulator: str) -> tuple[str, ...]:
    """The options with which this qemu translates instructions one by one, each on a line of the log."""
    if re.search(r"^-singlestep", checked([emulator, "-help"]), re.MULTILINE):
        return ("-singlestep",)
    return ("-accel", "tcg,one-insn-per-tb=on")
