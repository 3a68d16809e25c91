"""The user's own functions among those that a call or a command asks for."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rbdgen.errors import OptionError
from rbdgen.functions.composition import Composition
from rbdgen.functions.differentiated import mode_of
from rbdgen.functions.table import lookup
from rbdgen.functions.whole import whole_of
from rbdgen.model.robot import Robot
from rbdgen.own.text import Own


def own_functions(functions: Any, own: Any) -> tuple[Any, list[Own]]:
    """The names of functions, and all own functions among `functions` and `own`.

    Args:
        functions: names and own functions, as `rbdgen.build` takes them.
        own: further own functions, which names such as "reach_vjp" may refer to.

    Raises:
        OptionError: `own` has something else, or two own functions have the same name.
    """
    if isinstance(own, Own):
        own = [own]
    if isinstance(own, str) or not isinstance(own, Iterable):
        raise OptionError(f"own={own!r} is not a list; give functions that rbdgen.function made")
    found: dict[str, Own] = {}
    given = [functions] if isinstance(functions, Own) else functions
    listed = [x for x in given if isinstance(x, Own)] if isinstance(given, (list, tuple)) else []
    for function in (*own, *listed):
        if not isinstance(function, Own):
            raise OptionError(
                f"own={own!r}: {function!r} is no own function; decorate it with rbdgen.function"
            )
        if found.setdefault(function.name, function) is not function:
            raise OptionError(f"own functions: two of them have the name '{function.name}'; rename one")
    if not listed:
        return functions, list(found.values())
    return [x.name if isinstance(x, Own) else x for x in given], list(found.values())


def compositions(own: Sequence[Own], functions: Iterable[str], robot: Robot) -> tuple[Composition, ...]:
    """The own functions for a robot that these names ask for, by themselves or by a derivative. Others, which
    the robot may not fit, are left out.

    Raises OptionError for an unknown name, and for what is impossible in one of them.
    """
    if not own:
        return ()
    rows = {x.name: x.row for x in own}
    asked = set()
    for name in functions:
        bases = set(_bases(name))
        if bases.isdisjoint(rows):
            lookup(name, robot.model, own=rows)  # an unknown name may be meant for an own function
        asked |= bases
    return tuple(function.composition(robot) for function in own if function.name in asked)


def _bases(name: str) -> Iterator[str]:
    """The name of a function, and if it is a derivative, those of the functions that are differentiated."""
    yield name
    while (made := mode_of(name) or whole_of(name)) is not None:
        name, _ = made
        yield name


def functions_of_file(path: str | Path) -> list[Own]:
    """The own functions that a Python file defines. The file is run.

    Raises:
        OptionError: there is no such file, or it defines none. Exceptions of the file are not changed.
    """
    file = Path(path)
    if not file.is_file():
        raise OptionError(f"{file}: no such file; give the Python file of your own functions")
    spec = importlib.util.spec_from_file_location(f"rbdgen_own_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise OptionError(f"{file} is no Python file; give FILE.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found = [value for value in vars(module).values() if isinstance(value, Own)]
    if not found:
        raise OptionError(f"{file} defines no own function; decorate one with rbdgen.function")
    return list(dict.fromkeys(found))
