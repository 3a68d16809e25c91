"""Functions called together: one function with all inputs and outputs of several, which is traced as one.

It is an own function whose text calls the functions in order, so that sines, kinematics and all else that
they share are computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rbdgen.emit.names import check_own_names
from rbdgen.emit.reserved import OF_ROLLOUTS
from rbdgen.errors import EmitError, OptionError, either
from rbdgen.functions.composition import Composition
from rbdgen.functions.table import check_own_name, lookup
from rbdgen.model.model import Model
from rbdgen.model.robot import Robot
from rbdgen.own.text import Own, OwnFunction
from rbdgen.signature import Argument, Signature, SizedArgument, rolling_of
from rbdgen.wording import option


@dataclass(frozen=True)
class Member:
    """One of the functions that are called together, on a robot."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    call: Callable[..., Any]
    """Calls the function with the robot of a text and its inputs."""


class Together(OwnFunction):
    """Several functions of a robot as one function, see `together_functions`."""

    told = "its functions"

    def __init__(self, name: str, members: Sequence[Member]) -> None:
        self.members = tuple(member.name for member in members)
        made = _signature(name, members)
        inputs = [x.name for x in made.inputs]

        def text(robot: Any, *arguments: Any) -> Any:
            given, found = dict(zip(inputs, arguments, strict=True)), list[Any]()
            for member in members:
                results = member.call(robot, *(given[x.name] for x in member.inputs))
                if isinstance(results, Mapping):
                    results = tuple(results.values())
                found += results if isinstance(results, tuple) else (results,)
            return tuple(found)

        text.__doc__ = f"{', '.join(self.members)} in one call"
        super().__init__(text, made, {})

    def composition(self, robot: Robot) -> Composition:
        """The calls for the generator, on a robot. Raises OptionError, one line."""
        return replace(super().composition(robot), members=self.members)

    def _where(self, error: BaseException) -> str:
        """The name of the function, whose text no user has written."""
        del error
        return f"function '{self.name}'"


def together_functions(given: Any, robot: Robot, own: Sequence[Own] = ()) -> list[Together]:
    """The functions that are called together, for a robot.

    Args:
        given: the names of the functions in order, by the name of the function that calls them. A function
            may also be one of those before it.
        robot: the robot.
        own: own functions, which may be among those that are called.

    Raises:
        OptionError: a function does not exist or does not fit the robot, there are fewer than two, a name is
            taken, or two inputs of the same name are different quantities; one line.
    """
    if not isinstance(given, Mapping):
        raise OptionError(f"together={given!r}: give a dict, such as {{'terms': ['nle', 'crba']}}")
    known: dict[str, Own] = {function.name: function for function in own}
    found: list[Together] = []
    for name, functions in given.items():
        where = option("together", {name: functions})
        if isinstance(functions, str) or not isinstance(functions, Iterable):
            raise OptionError(f"{where}: give a list of functions, such as ['nle', 'crba']")
        names = [x.name if isinstance(x, Own) else x for x in functions]
        where = option("together", {name: ",".join(map(str, names))})
        try:
            found.append(_together(name, names, robot.model, known))
        except (EmitError, OptionError) as error:
            raise OptionError(f"{where}: {either(str(error), error.in_shell)}") from None
        known[name] = found[-1]
    return found


def _together(name: Any, names: Sequence[Any], model: Model, own: Mapping[str, Own]) -> Together:
    if not isinstance(name, str):
        raise OptionError(f"{name!r} is not a name; give a text, such as 'terms'")
    check_own_names(name, ())
    check_own_name(name)
    if name in own:
        raise OptionError(f"there are two functions '{name}'; rename one of them")
    if len(names) < 2:
        raise OptionError("these are fewer than two functions; name all that are called together")
    members = [_member(called, model, own) for called in names]
    for called, count in Counter(names).items():
        if count > 1:
            raise OptionError(f"'{called}' is named twice; name it once")
    return Together(name, members)


def _member(name: Any, model: Model, own: Mapping[str, Own]) -> Member:
    """A function by its name. Raises OptionError if there is none, or if it does not fit the robot."""
    if isinstance(name, str) and name in own:
        function = own[name]
        return Member(name, function.signature.inputs, function.signature.outputs, function)
    row = lookup(name, model, own={x.name: x.row for x in own.values()})
    if row.by_parameters:
        raise OptionError(f"'{name}' takes the values of parameters; call it alone")
    base = row
    while (made := base.differentiated or base.whole) is not None:
        base = made.of
    if base.name in own:
        raise OptionError(f"'{name}' is a derivative of an own function; call it alone")
    sized = row.sized(model)
    return Member(
        row.name,
        _of_robot(row.signature.inputs, sized.inputs, model),
        _of_robot(row.signature.outputs, sized.outputs, model),
        lambda robot, *given: getattr(robot, row.name)(*given),
    )


def _of_robot(
    arguments: Sequence[Argument], sized: Sequence[SizedArgument], model: Model
) -> tuple[Argument, ...]:
    """The arguments that the function of a robot has. A size that is not the robot's, such as that of a set
    of contacts, becomes a number.
    """
    shapes = {x.name: x.shape for x in sized}
    found = []
    for x in arguments:
        if x.name in shapes:
            plain = tuple(model.sizes.get(n, n) if isinstance(n, str) else n for n in x.shape)
            found.append(x if plain == shapes[x.name] else replace(x, shape=shapes[x.name]))
    return tuple(found)


def _signature(name: str, members: Sequence[Member]) -> Signature:
    """The inputs of all members, each once, and the outputs of all members.

    The name of an output that is not the only one with this name, or that is the name of an input, begins
    with that of its function. Raises OptionError if inputs of the same name are different quantities.
    """
    inputs: dict[str, tuple[Argument, str]] = {}
    for member in members:
        for x in member.inputs:
            known, first = inputs.setdefault(x.name, (x, member.name))
            if _quantity(known) != _quantity(x):
                raise OptionError(
                    f"the input '{x.name}' of {member.name} is another one than that of {first}; leave one "
                    "of these functions out"
                )
    counts = Counter(y.name for member in members for y in member.outputs)
    outputs = tuple(
        replace(y, name=f"{member.name}_{y.name}") if counts[y.name] > 1 or y.name in inputs else y
        for member in members
        for y in member.outputs
    )
    made = Signature(name, tuple(x for x, _ in inputs.values()), outputs)
    _check_names(made)
    return made


def _quantity(x: Argument) -> tuple[object, ...]:
    """The properties that two inputs must share to be one."""
    return x.kind, x.shape, x.unit, x.symmetric, x.default, x.range


def _check_names(made: Signature) -> None:
    """Raises OptionError or EmitError if an array cannot have its name in the emitted C."""
    arrays = [x.name for x in (*made.inputs, *made.outputs)]
    check_own_names(made.name, arrays)
    rolls = rolling_of(made.inputs, made.outputs) is not None
    for array, count in Counter(arrays).items():
        if count > 1:
            raise OptionError(f"there are two arrays '{array}'; leave one of their functions out")
        if rolls and array in OF_ROLLOUTS:
            raise OptionError(
                f"rollouts have an argument '{array}', which is an input here; leave its function out"
            )
