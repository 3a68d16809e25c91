"""A request: a robot and options that fit each other. Impossible requests are refused before any work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from rbdgen.description.quoting import quoted
from rbdgen.emit.names import check_robot_name, robot_identifier
from rbdgen.emit.tools import FORMS
from rbdgen.errors import OptionError
from rbdgen.functions.composed import composed
from rbdgen.functions.composition import Composition
from rbdgen.functions.differentiated import mode_of
from rbdgen.functions.form import LIMB_LOOPS, LIMBS
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.model.build import Robot
from rbdgen.model.model import Model
from rbdgen.model.parameters import OF_MASS, Parameter, asked_parameters
from rbdgen.options import Options
from rbdgen.pipeline.compilation import compiler_flags, target_of
from rbdgen.pipeline.emitted import check_emitted, with_needed
from rbdgen.selection.budget import check_budget
from rbdgen.signature import UPDATE
from rbdgen.toolchain.targets import Target
from rbdgen.wording import option

MOST_ARRAYS: Final = 64
"""The largest number of inputs and outputs of a function, as in `templates/python/calls.c`."""

_PARAMETERS_DIFFER: Final = f"{option('params')} makes numbers inputs in which limbs may differ; leave it out"


@dataclass(frozen=True)
class Request:
    """A request: a robot, and the options by which its functions are generated.

    Raises:
        OptionError: the options contradict each other or do not fit the robot.
        EmitError: the name cannot be that of a package.
    """

    robot: Robot
    options: Options
    """The options. Their functions include those that `emit` adds."""
    package: bool = True
    """Whether the folder is a Python package too, which it cannot be for another machine."""
    own: tuple[Composition, ...] = ()
    """The user's own functions; those of them that `options` names are generated."""
    rows: Mapping[str, Function] = field(init=False, repr=False, compare=False)
    """The functions asked for, by name and in order."""
    parameters: tuple[Parameter, ...] = field(init=False, repr=False, compare=False)
    """The parameters of the robot that stay inputs."""

    def __post_init__(self) -> None:
        check_emitted(self.options, self.target)
        object.__setattr__(self, "robot", _suited(self.robot, self.options.real))
        parameters = asked_parameters(self.robot, self.options.params)
        own = {x.name: composed(x, self.model) for x in self.own}
        asked = _rows(self.options, self.model, own)
        options = with_needed(self.options, asked, self.model, len(parameters))
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "rows", _rows(options, self.model, own))
        object.__setattr__(self, "parameters", parameters)
        for check in _CHECKS:
            check(self)

    def __reduce__(self) -> tuple[type[Request], tuple[Robot, Options, bool, tuple[Composition, ...]]]:
        """Pickles only the fields from which another process computes the others."""
        return Request, (self.robot, self.options, self.package, self.own)

    @property
    def model(self) -> Model:
        return self.robot.model

    @property
    def name(self) -> str:
        """The name of the package."""
        return robot_identifier(self.model.name) if self.options.name is None else self.options.name

    @cached_property
    def target(self) -> Target:
        """The machine, with the RAM asked for."""
        return target_of(self.options)

    @cached_property
    def variants(self) -> Mapping[str, str]:
        """The forms of functions that are asked for, without the forms of kernels."""
        asked = self.options.variants.items()
        return {name: form for name, form in asked if not (self.target.kernels and form in FORMS)}

    def only(self, *names: str, variants: Mapping[str, str] | None = None) -> Request:
        """The request for some of its functions, with the forms asked for unless others are given."""
        asked = self.options
        forms = asked.variants if variants is None else variants
        return Request(
            self.robot,
            replace(
                asked,
                functions=names,
                variants={name: form for name, form in forms.items() if name in names},
                coordinates=asked.coordinates and any(self.rows[name].differentiated for name in names),
                budget_flash=None,
                emit=(),
                ranges={},
                tighten=0,
            ),
            self.package,
            self.own,
        )

    def for_frameworks(self, functions: Sequence[str], *, packed: bool | None = None) -> Request:
        """The request for derivatives that CasADi, JAX or PyTorch need later. `packed` replaces the option if
        it is given.

        The products with derivatives of the parameter table are only designed together with the product of
        another function. Without one, a quick one is added.
        """
        names = [name for name in functions if name.partition("_")[0] != UPDATE] or ["potential_energy_vjp"]
        options = replace(
            self.options.without_bounds,
            functions=tuple(names),
            variants={name: form for name, form in self.options.variants.items() if name in names},
            coordinates=any(mode_of(name) for name in names),
            packed=self.options.packed if packed is None else packed,
        )
        return Request(self.robot, options, self.package, self.own)

    def forced(self, name: str) -> str | None:
        """The form of a function if the options determine it; None if it is selected by cost."""
        if name in self.variants or self.options.savings:
            return self.variants.get(name)
        return self.rows[name].forms_for(self.model)[0].name

    def limbs_refused(self, function: Function) -> str | None:
        """The reason why the options prevent alike limbs from being the lanes of vectors; None if they do
        not."""
        options = self.options
        if not self.target.extensions:
            return f"{option('target', options.target)} has no vectors; take {option('target', 'host')}"
        if options.trig == "input":
            return f"{option('trig', 'input')} gives sines one by one; take {option('trig', 'builtin')}"
        if options.params:
            return _PARAMETERS_DIFFER
        if options.coordinates and function.differentiated:
            return f"gradients by the elements of q have no lanes; leave {option('coordinates')} out"
        if function.packed(options.packed):
            return f"outputs are packed; leave {option('packed')} out"
        return None


def _suited(robot: Robot, real: str) -> Robot:
    """The robot with the formula for distances that suits the number type."""
    own = robot.model.distances
    distances = own.suited(robot.description.distances.segments, real)
    return robot if distances is own else replace(robot, model=replace(robot.model, distances=distances))


def _rows(options: Options, model: Model, own: Mapping[str, Function]) -> dict[str, Function]:
    return {name: lookup(name, model, own=own) for name in options.functions}


def _check_target(request: Request) -> None:
    """Checks that the number type, the processor and the flags fit together, and that the name is usable."""
    request.target.check_real(request.options.real)
    compiler_flags(request.options)
    check_robot_name(request.name)


def _check_arrays(request: Request) -> None:
    """Checks that calls from Python can pass all arrays of every function."""
    for row in request.rows.values():
        count = len(row.signature.inputs) + len(row.signature.outputs) + bool(request.options.params)
        if count > MOST_ARRAYS:
            raise OptionError(
                f"function '{row.name}' has {count} arrays, but a call takes at most {MOST_ARRAYS}; join some"
            )


def _check_own(request: Request) -> None:
    """Checks that masses which stay inputs, and derivatives, do not contradict texts of own functions."""
    masses = any(x.kind in OF_MASS for x in request.parameters)
    for row in request.rows.values():
        base = row
        while (of := base.differentiated or base.whole) is not None:
            base = of.of
        own = base.composition
        if own is None:
            continue
        if own.reads_mass and masses:
            raise OptionError(
                f"function '{own.name}' reads robot.mass, which stays that of the description; give it an "
                "input for the mass, or leave masses out of params"
            )
        if own.moving and base is not row:
            raise OptionError(
                f"function '{row.name}': '{own.name}' gives {own.moving[0]}, which is held, a value that "
                "depends on inputs that are not held; hold them, too, or leave held out"
            )


def _check_parameters(request: Request) -> None:
    """Checks parameters that are inputs: some functions need them, and others cannot have them."""
    for row in request.rows.values():
        if row.by_parameters:
            row.sized(request.model, len(request.options.params))
            _check_linear(request, f"function '{row.name}' differentiates by the linear parameters of C")
        if row.basis is not None and request.options.params:
            raise OptionError(
                f"function '{row.name}' has columns that depend on the parameters; leave it out, or "
                f"{option('params')}"
            )
    if not request.target.runs_here:
        _check_linear(request, f"{option('target', request.target.name)} has no library that computes them")


def _check_linear(request: Request, why: str) -> None:
    """Refuses log-Cholesky parameters, which only libraries on a host convert before they call C."""
    own = next((x for x in request.parameters if x.log_cholesky), None)
    if own is not None:
        _, _, link = own.group.partition(":")
        asked = option("params", [f"logchol:{link}"])
        raise OptionError(f"{asked}: {why}; ask for {quoted(own.group)}")


def _check_coordinates(request: Request) -> None:
    if request.options.coordinates and not any(row.differentiated for row in request.rows.values()):
        raise OptionError(
            f"{option('coordinates')} is an option of NAME_vjp, NAME_jvp and NAME_hvp; ask for one of them, "
            "or leave it out"
        )


def _check_forms(request: Request) -> None:
    """Checks that each form that is asked for exists, and fits the other options and the robot."""
    for name, form in request.variants.items():
        row, reason = request.rows[name], None
        calls = row.form(form).calls
        if form == LIMBS:
            reason = request.limbs_refused(row)
        elif form == LIMB_LOOPS and request.options.params:
            reason = _PARAMETERS_DIFFER
        elif calls and request.options.params:
            reason = f"{option('params')} gives all functions straight lines; leave the form out"
        if reason is not None:
            raise OptionError(f"{option('variants', {name: form})}: {reason}")
        row.form_for(request.model, form)


def _check_bits(request: Request) -> None:
    """Refuses an option of batches and kernels for a machine that has neither."""
    options, target = request.options, request.target
    if options.same_bits and not (target.extensions or target.kernels):
        raise OptionError(
            f"{option('same_bits')}: {option('target', options.target)} has no batches; leave it out, or "
            f"take {option('target', 'host')}"
        )


def _check_budget(request: Request) -> None:
    """Checks the budget of operations of unrolled functions; functions in loops are exempt."""
    forms = request.variants
    unrolled = [
        row for name, row in request.rows.items() if name not in forms or not row.form(forms[name]).for_size
    ]
    check_budget(request.model, unrolled, request.options.budget)


def _check_angles(request: Request) -> None:
    """Refuses joints that need the angle itself if only its sine and cosine are given.

    A spring needs the angle, a helical joint slides in proportion to it, and a follower may turn by a
    multiple of it.
    """
    if request.options.trig != "input":
        return
    given, instead = option("trig", "input"), option("trig", "builtin")
    angles = request.model.manifold.angles
    for joint in (body.joint for body in request.model.bodies):
        at = joint.idx_q if joint.follows is None else joint.follows.idx_q
        if joint.resistance.stiffness and at in angles:
            raise OptionError(
                f"{given}: joint {quoted(joint.name)} has a spring, which needs the angle itself; take "
                f"{instead}"
            )
    screw = next(
        (joint.name for joint in request.model.manifold.joints if "full_turn" in joint.space.elements), None
    )
    if screw is not None:
        raise OptionError(
            f"{given}: joint {quoted(screw)} is helical and needs its angle beside the sine; take {instead}"
        )
    for joint in (body.joint for body in request.model.bodies):
        follows = joint.follows
        if follows is None:
            continue
        led, turns = follows.idx_q in angles, joint.type.elements == ("angle",)
        if led != turns or (turns and abs(follows.multiplier) != 1):
            raise OptionError(
                f"{given}: joint {quoted(joint.name)} mimics another {follows.multiplier:g} times, and needs "
                f"more than the sine of q[{follows.idx_q}]; take {instead}"
            )


_CHECKS: Final[tuple[Callable[[Request], None], ...]] = (
    _check_target,
    _check_arrays,
    _check_own,
    _check_parameters,
    _check_coordinates,
    _check_forms,
    _check_bits,
    _check_budget,
    _check_angles,
)
"""Every refusal that needs the robot, in the order in which they are raised."""
