"""A generated folder described: all that its files say of the robot and its functions, made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdgen.emit.c.trigonometry import angle_count
from rbdgen.emit.contexts import CFunction, CRobot, function_context, robot_context
from rbdgen.emit.names import casadi_name
from rbdgen.emit.package import EmitOptions, FunctionSource, RobotFacts
from rbdgen.emit.real import real_type
from rbdgen.emit.selftest.context import CGolden, golden_context
from rbdgen.emit.selftest.golden import Golden, float_error, golden_vectors
from rbdgen.errors import EmitError


@dataclass(frozen=True)
class FolderFunction:
    """A function as files show it.

    `shown`: its names and prototype; `tested`: how self-tests try it; `float_error`: what float costs in
    accuracy, on small machines.
    """

    source: FunctionSource
    shown: CFunction
    tested: CGolden
    float_error: float | None

    @cached_property
    def most_angles(self) -> int:
        """The most angles whose sine or cosine one straight line of the function needs."""
        return max((angle_count(loop.kernel) for loop in self.source.printed.loops), default=0)


@dataclass(frozen=True)
class Folder:
    """What every backend prints its files from.

    `batches`: the functions that have a batch function.
    """

    facts: RobotFacts
    options: EmitOptions
    robot: CRobot
    functions: tuple[FolderFunction, ...]
    batches: tuple[FolderFunction, ...]

    @property
    def name(self) -> str:
        return self.robot.name

    @property
    def shown(self) -> list[CFunction]:
        """Names and prototypes of all functions."""
        return [function.shown for function in self.functions]

    @property
    def shown_batches(self) -> list[CFunction]:
        """Names and prototypes of those with a batch function."""
        return [function.shown for function in self.batches]

    def named(self, name: str) -> FolderFunction | None:
        """The function of this name, None where there is none."""
        return next((function for function in self.functions if function.source.name == name), None)

    def derivatives_of(self, function: FolderFunction) -> FolderFunction | None:
        """The function whose outputs are the derivatives of this one."""
        name = function.source.name
        return next((other for other in self.functions if other.source.derivative_of == name), None)

    @property
    def casadi(self) -> list[FolderFunction]:
        """Those that CasADi is to know, its derivatives of others are not among them."""
        if "casadi" not in self.options.emit:
            return []
        names = {function.source.name for function in self.functions}
        products = {f"{name}_{mode}" for name in names for mode in ("vjp", "jvp", "hvp")}
        return [
            function
            for function in self.functions
            if function.source.derivative_of not in names and function.source.name not in products
        ]

    @property
    def casadi_knots(self) -> tuple[int, ...]:
        """States in a call of its functions."""
        return tuple(sorted({1, self.options.knots}))

    def casadi_file(self, function: FolderFunction, knots: int) -> str:
        """The C file of a function of CasADi."""
        return f"casadi/{casadi_name(self.name, function.source.name, knots)}.c"

    @property
    def casadi_files(self) -> list[str]:
        """All of them."""
        return [self.casadi_file(function, knots) for function in self.casadi for knots in self.casadi_knots]


def folder_of(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions,
    golden: Mapping[str, Golden] | None = None,
) -> Folder:
    """The description of a folder; arguments and errors as of `render`."""
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
    golden = golden or golden_vectors(facts, function, options.real)
    return FolderFunction(
        function,
        function_context(facts, function, options.real, counted=options.small_machine),
        golden_context(facts, function, golden, options.real),
        float(f"{float_error(facts, function):.2g}") if options.small_float else None,
    )
