"""The description of a generated folder, computed once: all that its files state about the robot and its
functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rbdgen.emit.c.trigonometry import angle_count
from rbdgen.emit.contexts import CFunction, CRobot, function_context, robot_context
from rbdgen.emit.package import EmitOptions, FunctionSource, RobotFacts
from rbdgen.emit.real import real_type
from rbdgen.emit.selftest.context import CGolden, golden_context
from rbdgen.emit.selftest.golden import Golden, float_error, golden_vectors
from rbdgen.errors import EmitError

if TYPE_CHECKING:
    from rbdgen.emit.cuda.kernel import Kernel


@dataclass(frozen=True)
class FolderFunction:
    """A function as the files show it."""

    source: FunctionSource
    shown: CFunction
    """The names and the prototype of the function."""
    tested: CGolden
    """The call of the function in the self-tests."""
    float_error: float | None
    """The error that computing in float causes; None except on small machines."""
    kernel: Kernel | None = None
    """The kernel of CUDA; None for other targets."""

    @cached_property
    def most_angles(self) -> int:
        """The largest number of angles whose sine or cosine one straight-line piece of the function needs."""
        return max((angle_count(loop.kernel) for loop in self.source.printed.loops), default=0)


@dataclass(frozen=True)
class Beside:
    """The additions of a requested backend to the folder."""

    name: str
    library: str
    """The file name of the library of its files; empty if there is none."""
    loaded_by: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Folder:
    """The description from which every backend prints its files."""

    facts: RobotFacts
    options: EmitOptions
    robot: CRobot
    functions: tuple[FolderFunction, ...]
    batches: tuple[FolderFunction, ...]
    """The functions that have a batch function."""
    beside: tuple[Beside, ...] = ()
    """The additions of the requested backends; empty while these print."""

    @property
    def name(self) -> str:
        return self.robot.name

    @property
    def shown(self) -> list[CFunction]:
        """Names and prototypes of all functions."""
        return [function.shown for function in self.functions]

    @property
    def shown_batches(self) -> list[CFunction]:
        """Names and prototypes of the functions that have a batch function."""
        return [function.shown for function in self.batches]

    def named(self, name: str) -> FolderFunction | None:
        """The function of this name, or None."""
        return next((function for function in self.functions if function.source.name == name), None)

    def derivatives_of(self, function: FolderFunction) -> FolderFunction | None:
        """The function whose outputs are the derivatives of the given function, or None."""
        name = function.source.name
        return next((other for other in self.functions if other.source.derivative_of == name), None)


def folder_of(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions,
    golden: Mapping[str, Golden] | None = None,
) -> Folder:
    """The description of a folder; arguments and errors are those of `render`."""
    real_type(options.real)
    _check_names(functions)
    described = tuple(
        _described(facts, function, options, golden[function.name] if golden else None)
        for function in functions
    )
    batches = tuple(f for f in described if options.extensions and f.source.batch is not None)
    return Folder(facts, options, robot_context(facts, options), described, batches)


def _check_names(functions: Sequence[FunctionSource]) -> None:
    names = [function.name for function in functions]
    if not names:
        raise EmitError("no function to emit; name at least one")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EmitError(f"function '{twice[0]}' is to be emitted twice; name every function once")


def _described(
    facts: RobotFacts, function: FunctionSource, options: EmitOptions, golden: Golden | None
) -> FolderFunction:
    shown = function_context(facts, function, options.real, counted=options.small_machine)
    kernel = _kernel(facts, function, shown, options)  # refuses what is too long before anything is computed
    golden = golden or golden_vectors(facts, function, options.real)
    return FolderFunction(
        function,
        shown,
        golden_context(facts, function, golden, options.real),
        float(f"{float_error(facts, function):.2g}") if options.small_float else None,
        kernel,
    )


def _kernel(
    facts: RobotFacts, function: FunctionSource, shown: CFunction, options: EmitOptions
) -> Kernel | None:
    """The kernel of a function, if the folder has kernels."""
    if options.kernels is None:
        return None
    from rbdgen.emit.cuda.kernel import kernel_of  # noqa: PLC0415  (only this target needs it)

    program, style = function.program, options.kernels
    return kernel_of(facts.name, shown.symbol, program, options.real, options.nesting, style, shown.rolling)
