"""Finds the target, the compiler and the flags that options ask for."""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.emit.package import EmitOptions, Sources
from rbdgen.emit.tools import FORMS, Board, Kernels, ModuleFlags
from rbdgen.errors import BuildError, OptionError
from rbdgen.machine import available_cores
from rbdgen.options import AUTO, BOUNDS, Options, environment_compiler
from rbdgen.pipeline.progress import Compiling, Progress
from rbdgen.toolchain.batch import architecture
from rbdgen.toolchain.compiler import compilers_named
from rbdgen.toolchain.cross import cross_compiler, refused_headers, with_figures
from rbdgen.toolchain.module import Toolchain
from rbdgen.toolchain.nvrtc import SHARED, architectures
from rbdgen.toolchain.targets import TARGETS, Target, target_named
from rbdgen.toolchain.webassembly import COMPILE_FLAGS, LINK_FLAGS, STACK, Tools, find_tools, stack_flags
from rbdgen.wording import option


def target_of(options: Options) -> Target:
    """The target of the options, with the RAM that they ask for."""
    target = target_named(options.target)
    return target if options.ram is None else target.with_ram(options.ram)


def toolchain_of(options: Options) -> Toolchain:
    """The compilers and flags for the target of the options."""
    _, levels = architecture(options.arch)
    compiler, other = compilers_named(options.compiler, environment_compiler())
    return Toolchain(compiler, compiler_flags(options), available_cores(), levels, other)


def module_tools() -> Tools:
    """The tools that make WebAssembly: the compiler that `CC` names if it is a clang, else clang.

    Raises BuildError if one is missing.
    """
    try:
        return find_tools(environment_compiler())
    except BuildError as error:
        raise BuildError(f"{error}, or leave the module out with {option('compiled', False)}") from error


def compiler_flags(options: Options) -> tuple[str, ...]:
    """The target's flags as the options change them.

    Raises OptionError if the options contradict the target.
    """
    target = target_named(options.target)
    if options.compiler is not None:
        _check_compiler(options, target)
    if target.kernels:
        architectures(options.arch)
        _check_kernels(options)
        return target.flags
    flag, _ = architecture(options.arch)
    if options.arch != "native" and options.target != "host":
        raise OptionError(
            f"{option('arch', options.arch)}: {option('target', options.target)} has its own processor; "
            "leave one of them out"
        )
    if target.module:
        _check_module(options)
    return tuple(flag if x == "-march=native" else x for x in _fused(target.flags, options))


def _fused(flags: Sequence[str], options: Options) -> list[str]:
    """The flags of a target, by which the compiler fuses operations if the options ask for it."""
    fast = {"-ffp-contract=off": "-ffp-contract=fast"} if options.contract else {}
    return [fast.get(flag, flag) for flag in flags]


def _check_compiler(options: Options, target: Target) -> None:
    """Raises OptionError if no C compiler of this machine compiles for the target, or if the bits would
    depend on which of two compilers compiles a file.
    """
    asked = option("compiler", options.compiler)
    if not target.runs_here:
        raise OptionError(
            f"{asked}: {option('target', target.name)} has its own compiler; leave one of them out"
        )
    if options.compiler == AUTO and options.contract:
        raise OptionError(
            f"{asked}: gcc and clang fuse different products and sums; leave {option('contract')} out, or "
            "name one of the compilers"
        )


def _check_module(options: Options) -> None:
    """Raises OptionError for an option that WebAssembly cannot follow."""
    asked = option("target", options.target)
    if options.contract:
        raise OptionError(f"{asked} fuses no operations; leave {option('contract')} out")
    if options.trig == "libm":
        raise OptionError(
            f"{asked} has no C library; leave {option('trig', 'libm')} out, or take {option('trig', 'input')}"
        )


def _check_kernels(options: Options) -> None:
    """Raises OptionError for an option that kernels of CUDA cannot follow."""
    asked = option("target", options.target)
    if options.contract:
        raise OptionError(
            f"{asked} fuses products and sums by itself; leave {option('contract')} out (with "
            f"{option('same_bits')} it fuses none)"
        )
    if options.trig == "libm":
        raise OptionError(
            f"{asked} has sines of its own, with the same bits everywhere; leave {option('trig', 'libm')} out"
        )
    if BOUNDS in options.emit and not options.same_bits:
        raise OptionError(
            f"{asked}: bounds of rounding errors do not hold for fused products; add "
            f"{option('same_bits')}, or leave {option('emit', [BOUNDS])} out"
        )


def style(options: Options, *, package: bool) -> EmitOptions:
    """The style of the C for the options. `package` says whether its folder is also a Python package."""
    target = target_named(options.target)
    return EmitOptions(
        options.real,
        options.trig,
        target.name,
        target.extensions,
        prefix=target.prefix,
        flags=compiler_flags(options),
        module=ModuleFlags(COMPILE_FLAGS, (*LINK_FLAGS, *stack_flags(STACK))) if target.module else None,
        kernels=_kernels(options) if target.kernels else None,
        boards=_boards(target, options),
        emit=options.emit,
        package=package,
    )


def _kernels(options: Options) -> Kernels:
    """The style of kernels: forms among the variants are theirs, and they fit all GPUs that are asked for."""
    forms = {name: form for name, form in options.variants.items() if form in FORMS}
    return Kernels(not options.same_bits, min(SHARED[arch] for arch in architectures(options.arch)), forms)


def _boards(target: Target, options: Options) -> tuple[Board, ...]:
    """The boards that can run code for a target: its own; for code of any compiler, those of all targets."""
    shared = target.name == "portable"
    rows = [row for row in TARGETS.values() if row.machine and (shared or row == target)]
    return tuple(
        Board(
            row.machine.name,
            row.prefix,
            " ".join(_fused(row.flags, options)),
            " ".join((row.machine.emulator, "-M", row.machine.name, *row.machine.options.split())),
            row.machine.startup,
            f"{row.machine.code:#x}",
            f"{row.machine.data:#x}",
        )
        for row in rows
        if row.machine
    )


def measured(sources: Sources, target: Target, options: Options, progress: Progress) -> Sources:
    """The sources with the figures of flash and stack, measured on objects that are compiled for the
    target."""
    reason = unmeasurable(sources, target, options)
    compiler = cross_compiler(target)
    if reason is not None or compiler is None:
        raise OptionError(f"no figures for --ram and --budget-flash: {reason}")
    flags = compiler_flags(options)
    return with_figures(sources, target, compiler, flags, available_cores(), Compiling(progress))


def unmeasurable(sources: Sources, target: Target, options: Options) -> str | None:
    """The reason why objects for a small machine cannot be measured here, with advice; None if they can."""
    name, compiler = f"{target.prefix}gcc", cross_compiler(target)
    if compiler is None:
        return f"{name} is not installed; {target.install}"
    complaint = refused_headers(sources, compiler, compiler_flags(options))
    return None if complaint is None else f"{name} has no C library ({complaint}); {target.install}"


def check_measurable(options: Options, target: Target, *, compiled: bool) -> None:
    """Raises OptionError if objects for a small machine must be measured, but cannot be."""
    figures = compiled and target.embedded and cross_compiler(target) is not None
    if options.ram is not None and not figures:
        raise OptionError(
            f"{option('ram', options.ram)}: needs measured figures; leave {option('compiled', False)} out, "
            f"and install {target.prefix}gcc"
        )
    if options.budget_flash is not None and not (figures or (compiled and not target.embedded)):
        raise OptionError(
            f"{option('budget_flash', options.budget_flash)}: needs measured sizes; leave "
            f"{option('compiled', False)} out, and install {target.prefix}gcc"
        )
