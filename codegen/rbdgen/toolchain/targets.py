"""The machines for which rbdgen generates code: one row each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rbdgen.errors import BuildError, OptionError
from rbdgen.machine import Real
from rbdgen.wording import choose, option

KIB: Final = 1024


@dataclass(frozen=True)
class Part:
    """A typical chip of a target, against which functions are checked; `flash` and `ram` are in bytes."""

    name: str
    flash: int
    ram: int


@dataclass(frozen=True)
class Machine:
    """A board that qemu emulates."""

    name: str
    """Its name in qemu's option -M."""
    emulator: str = "qemu-system-arm"
    options: str = ""
    """Further options of the emulator."""
    startup: str = "startup"
    """The file of its start-up code in templates/board, without the ending."""
    code: int = 0x00000000
    data: int = 0x20000000
    """The addresses of code and of data."""


@dataclass(frozen=True)
class Target:
    """One machine."""

    name: str
    meaning: str
    prefix: str
    """The prefix of the cross tools (`arm-none-eabi-`); empty for the machine's own."""
    flags: tuple[str, ...]
    """The compiler's flags, without those for the language and for warnings."""
    reals: tuple[Real, ...]
    """The number types of its hardware."""
    word: int
    """The size of a register, in bytes."""
    width: int = 1
    """The number of lanes of a vector in emitted code."""
    extensions: bool = False
    """Whether emitted code may use compiler extensions."""
    part: Part | None = None
    """The chip; None if size does not matter."""
    machine: Machine | None = None
    """The board that runs its code in qemu, if any."""
    kernels: bool = False
    """Whether functions are also printed as kernels of CUDA (see `toolchain.nvrtc`), which `gpu` launches."""
    module: bool = False
    """Whether all functions of a folder become one WebAssembly module (see `toolchain.webassembly`), which
    JavaScript calls."""
    packages: str = "gcc"
    """The Debian packages with the compiler and its C library."""

    @property
    def install(self) -> str:
        """The command that installs its compiler and a C library on Debian and Ubuntu."""
        return f"apt install {self.packages}"

    @property
    def embedded(self) -> bool:
        """Whether flash and stack are scarce, so that figures are taken and checked."""
        return self.part is not None

    @property
    def runs_here(self) -> bool:
        """Whether this machine can run what is compiled for it."""
        return not (self.embedded or self.module or self.kernels)

    @property
    def at_home(self) -> bool:
        """Whether it is this machine, so that its folders are Python packages; others only hold C."""
        return self.extensions

    def check_real(self, real: Real) -> None:
        """Raises OptionError if `real` would be computed in software."""
        if real not in self.reals:
            raise OptionError(
                f"{option('target', self.name)}, {option('real', real)}: its hardware has "
                f"{' and '.join(self.reals)} only, {real} in software takes some thirty times the "
                f"instructions; take {option('real', self.reals[0])}"
            )

    def with_ram(self, ram: int) -> Target:
        """The target with this size of RAM, in bytes. Raises OptionError if size does not matter."""
        if self.part is None:
            small = ", ".join(name for name, target in TARGETS.items() if target.embedded)
            raise OptionError(
                f"{option('ram')}: {option('target', self.name)} has no limit of RAM; choose from: {small}"
            )
        return replace(self, part=replace(self.part, name="as asked for", ram=ram))

    def check_fits(self, function: str, flash: int, stack: int, arguments: int) -> None:
        """Raises BuildError, with the figures, if a function needs more bytes than the part has.

        Its code is stored in flash; its worst-case stack and the arrays of its arguments are in RAM.
        """
        if self.part is None:
            return
        ram = f"RAM (stack {stack}, arguments {arguments})"
        for what, need, have in (
            ("flash", flash, self.part.flash),
            (ram, stack + arguments, self.part.ram),
        ):
            if need > have:
                raise BuildError(
                    f"{function}: {need} bytes of {what}, but {self.name} ({self.part.name}) has {have}, "
                    f"{need - have} too few; take fewer joints, {option('real', 'float')}, a larger "
                    f"target, or its {option('ram')}"
                )


_EXACT: Final = ("-ffp-contract=off", "-fno-math-errno")  # the second makes sqrt an instruction, not a call
_FAST: Final = ("-O2", *_EXACT)
_UNFUSED: Final = "-fno-tree-slp-vectorize"
"""The flag against a fusion in gcc 12, which combines neighbouring a * b + c and d * e - f into one vfmaddsub
even if contraction is off.
"""

_LOOPS: Final = (
    "-fno-tree-loop-distribute-patterns",  # a loop that writes zeros does not become a call of memset
    "-fno-tree-loop-im",  # invariant values are read in every run, which takes less code and less stack
    "--param=max-completely-peel-times=0",  # a loop of two runs stays a loop
    "-fno-reorder-blocks",  # a loop stays in one piece
)
"""The flags by which loops stay as they are in C, with one backward branch each, so that instructions can be
counted."""

_SMALL: Final = ("-Os", *_LOOPS, *_EXACT)
"""The flags of small machines. On long straight lines -Os gives the fewest instructions; -O2 reorders them
and runs out of registers."""

_ARM: Final = "arm-none-eabi-"
_ARM_PACKAGES: Final = "gcc-arm-none-eabi libnewlib-arm-none-eabi"

_RV32: Final = ("-march=rv32imafc", "-mabi=ilp32f", "-mcmodel=medany", "-mno-relax")
"""The flags of RISC-V. Without -mno-relax the linker would shorten calls, and fewer instructions would run
than are counted."""

TARGETS: Final[dict[str, Target]] = {
    target.name: target
    for target in (
        Target(
            "host",
            "this machine, tuned to its processor",
            prefix="",
            flags=("-march=native", *_FAST, _UNFUSED),
            reals=("double", "float"),
            word=8,
            extensions=True,
        ),
        Target(
            "portable",
            "any C99 compiler, no extension",
            prefix="",
            flags=_FAST,
            reals=("double", "float"),
            word=4,
        ),
        Target(
            "wasm32",
            "WebAssembly for web pages and node, with an ES module that calls it",
            prefix="",
            flags=_FAST,
            reals=("double", "float"),
            word=4,
            module=True,
            packages="clang lld",
        ),
        Target(
            "cuda",
            "GPUs of NVIDIA, for many states at once, beside the C of portable",
            prefix="",
            flags=_FAST,
            reals=("float", "double"),
            word=4,
            kernels=True,
        ),
        Target(
            "cortex-m4f",
            "Arm Cortex-M4 with single-precision FPU",
            prefix=_ARM,
            flags=("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-mthumb", *_SMALL),
            reals=("float",),
            word=4,
            part=Part("STM32F446", 512 * KIB, 128 * KIB),
            machine=Machine("mps2-an386"),
            packages=_ARM_PACKAGES,
        ),
        Target(
            "cortex-m7",
            "Arm Cortex-M7 with double-precision FPU",
            prefix=_ARM,
            flags=("-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard", "-mthumb", *_SMALL),
            reals=("double", "float"),
            word=4,
            part=Part("STM32F767", 2048 * KIB, 512 * KIB),
            machine=Machine("mps2-an500"),
            packages=_ARM_PACKAGES,
        ),
        Target(
            "cortex-m33",
            "Arm Cortex-M33 with single-precision FPU",
            prefix=_ARM,
            flags=("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard", "-mthumb", *_SMALL),
            reals=("float",),
            word=4,
            part=Part("STM32L552", 512 * KIB, 256 * KIB),
            # These are addresses of the secure state, in which this board starts.
            machine=Machine("mps2-an505", code=0x10000000, data=0x38000000),
            packages=_ARM_PACKAGES,
        ),
        Target(
            "cortex-m55",
            "Arm Cortex-M55 with double-precision FPU (its vector unit is left alone)",
            prefix=_ARM,
            flags=("-mcpu=cortex-m55", "-mfloat-abi=hard", "-mthumb", "-fno-tree-vectorize", *_SMALL),
            reals=("double", "float"),
            word=4,
            part=Part("Corstone-300", 512 * KIB, 512 * KIB),
            machine=Machine("mps3-an547"),
            packages=_ARM_PACKAGES,
        ),
        Target(
            "rv32imafc",
            "32-bit RISC-V with single-precision FPU",
            prefix="riscv64-unknown-elf-",
            flags=(*_RV32, "--specs=picolibc.specs", *_SMALL),
            reals=("float",),
            word=4,
            part=Part("ESP32-P4 with 16 MiB flash", 16 * KIB * KIB, 768 * KIB),
            machine=Machine(
                "virt", "qemu-system-riscv32", "-bios none", "startup_riscv", code=0x80000000, data=0x80100000
            ),
            packages="gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
        ),
    )
}
"""Every target by name."""


def target_named(name: str) -> Target:
    """The target of this name. Raises OptionError, with a remedy, for an unknown name."""
    if name not in TARGETS:
        raise OptionError(f"{option('target', name)} is not known; {choose(name, TARGETS)}")
    return TARGETS[name]
