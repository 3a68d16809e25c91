"""The functions of a folder that move the robot, as solvers of optimal control and simulators see them.

They are recognised by the kinds of their arguments, so that functions of contacts and those with other
methods of integration are among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.functions.table import derivatives_of
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.signature import SizedSignature
from rbdgen.wording import option


@dataclass(frozen=True)
class Motion:
    """The places of the inputs of a function that moves the robot."""

    discrete: bool
    """Whether its first outputs are q and v one time step later; if not, its first output is dv/dt."""
    control: int
    """The input with the torques. The first two inputs are q and v."""
    time_step: int | None
    """The input with the time step."""
    further: tuple[int, ...]
    """The other inputs, such as which contacts are closed."""


@dataclass(frozen=True)
class MovingFunction:
    """A function of a folder that moves the robot."""

    function: FolderFunction
    motion: Motion
    derivatives: FolderFunction | None
    """The function of all its derivatives in the tangent space of q, if the folder has it."""

    @property
    def name(self) -> str:
        return self.function.source.name

    @property
    def signature(self) -> SizedSignature:
        return self.function.source.signature


def motion_of(signature: SizedSignature) -> Motion | None:
    """The motion that a function computes; None if it computes none."""
    kinds = [x.kind for x in signature.inputs]
    if kinds[:2] != ["configuration", "velocity"] or kinds.count("force") != 1:
        return None
    control = kinds.index("force")
    rolling = signature.rolling
    discrete = rolling is not None and rolling.feedback
    if not discrete and (signature.outputs[0].kind != "acceleration" or "time_step" in kinds):
        return None
    if any(
        x.kind in ("sines", "cosines") or x.dense is not None for x in (*signature.inputs, *signature.outputs)
    ):
        return None
    time_step = kinds.index("time_step") if discrete else None
    taken = {0, 1, control, time_step}
    further = tuple(k for k in range(2, len(kinds)) if k not in taken)
    return Motion(discrete, control, time_step, further)


def moving_functions(folder: Folder) -> list[MovingFunction]:
    """The functions of a folder that move the robot."""
    found = []
    for function in folder.functions:
        motion = motion_of(function.source.signature)
        if motion is not None:
            found.append(MovingFunction(function, motion, folder.derivatives_of(function)))
    return found


def continuous_functions(folder: Folder) -> list[MovingFunction]:
    """The functions of a folder that compute accelerations and whose derivatives it has."""
    return [x for x in moving_functions(folder) if not x.motion.discrete and x.derivatives is not None]


def driven(folder: Folder) -> list[int]:
    """The elements of the torques that joints exert: all without those of a floating base."""
    manifold = folder.facts.manifold
    return list(range(manifold.joints[0].nv if folder.facts.floating else 0, manifold.nv))


def refused_in_cpp(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude models in C++, with advice; None if they do not."""
    del detail
    if small_machine:
        return f"its models need a computer; leave {option('target', options.target)} out"
    if options.real != "double":
        return f"its models compute in double; leave {option('real', options.real)} out"
    if options.trig == "input":
        return f"its models take q, not sines; leave {option('trig', 'input')} out"
    if options.packed:
        return f"its models take whole matrices; leave {option('packed')} out"
    if options.params:
        return f"its models have no parameters of the robot; leave {option('params')} out"
    return None


def with_derivatives(
    options: Options, name: str, rows: Mapping[str, Function], model: Model, more: Iterable[str]
) -> Options:
    """The options with the derivatives of all accelerations, and with `more` functions.

    Raises:
        OptionError: no function computes accelerations and has a function of all its derivatives.
    """
    moving = [key for key, row in rows.items() if _continuous(row.sized(model, 0))]
    derivatives = [found for key in moving if (found := derivatives_of(key, model.contact_sets)) is not None]
    if not derivatives:
        raise OptionError(
            f"{option('emit', [name])}: no function computes accelerations; ask for "
            f"{option('functions', ['aba'])}, or with contacts for contact_aba"
        )
    added = [key for key in (*derivatives, *more) if key not in (*rows, *options.functions)]
    return replace(options, functions=(*options.functions, *dict.fromkeys(added)))


def _continuous(signature: SizedSignature) -> bool:
    motion = motion_of(signature)
    return motion is not None and not motion.discrete
