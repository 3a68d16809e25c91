"""`rbdgen.function`: a user's own text as a function of robots.

The text is a Python function. It runs once on expressions, which gives a composition for the generator. On
floats it runs as it stands, without compiled code; tests compare the generated code with these values.
"""

from __future__ import annotations

import inspect
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import update_wrapper
from typing import Any, ClassVar, Final

import numpy as np

from rbdgen.errors import GraphError, OptionError
from rbdgen.functions.composition import Composition
from rbdgen.functions.differentiated import HELD
from rbdgen.functions.function import Function
from rbdgen.graph.builder import Builder
from rbdgen.graph.expression import Expr
from rbdgen.model.robot import Robot
from rbdgen.own.arrays import ZEROS, Array, unpacked
from rbdgen.own.conditions import Condition
from rbdgen.own.declaration import signature
from rbdgen.own.errors import TextError
from rbdgen.own.handle import Floats, Handle, bound
from rbdgen.own.products import Recorder
from rbdgen.signature import Signature, SizedArgument

_OF_NUMPY: Final = (
    ("not 'Expr'", f"an array of floats cannot hold expressions; {ZEROS}"),
    ("not support argument", "NumPy does not know expressions in arrays of np.array; take rbdgen.array"),
    ("dtype('O')", "NumPy does not know expressions in arrays of np.array; take rbdgen.array"),
    ("as indices must be", "an index must be known when the text runs; take np.where(condition, x, y)"),
)
"""Parts of the errors that NumPy raises on expressions, and what is said instead."""


class Own(ABC):
    """A function of a user's own, from a text or from expressions."""

    signature: Signature
    told: ClassVar[str] = "its text"
    """The name, in words, of what the compiled function is compared with."""

    @property
    def row(self) -> Function:
        """The function as a row without forms, by which its name and its derivatives are looked up."""
        return Function(self.signature, "", (), operations=lambda _: 0)

    @property
    def name(self) -> str:
        """The name of the function in libraries and in C."""
        return self.signature.name

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(x.name for x in some) for some in (self.signature.inputs, self.signature.outputs)
        )
        return f"<own function {self.name}({inputs}) -> {outputs}>"

    @abstractmethod
    def __call__(self, robot: Any, *arguments: Any, **named: Any) -> Any:
        """The outputs at one state as arrays of floats, without compiled code."""

    @abstractmethod
    def composition(self, robot: Robot) -> Composition:
        """The function for the generator, on a robot. Raises OptionError, one line."""


class OwnFunction(Own):
    """A function of a user's own, made by `rbdgen.function`.

    `rbdgen.build(robot, functions=[reach, "reach_vjp", "rnea"])` compiles it. `reach(robot, q, v, ...)` runs
    the text on floats, without compiled code.
    """

    def __init__(self, text: Callable[..., Any], signature: Signature, static: Mapping[str, Any]) -> None:
        update_wrapper(self, text)
        self.signature = signature
        self.static = dict(static)
        self._text = text

    def __call__(self, robot: Any, *arguments: Any, **named: Any) -> Any:
        """Run the text. On a robot, arguments and results are arrays of floats of one state; inside another
        text, they are expressions.

        Raises:
            RbdgenError: an argument is missing or has another shape than is declared.
        """
        if isinstance(robot, Handle):
            return self._text(robot, *self._inside(robot, arguments, named), **self._fixed())
        floats = floats_of(self, robot, arguments, named)
        outputs = self.signature.sized(robot.model.sizes).outputs
        results = self._results(self._text(Floats(robot), *floats.values(), **self._fixed()), outputs)
        found = [np.array(np.asarray(value, object), float)[()] for value in results]
        return found[0] if len(found) == 1 else tuple(found)

    def composition(self, robot: Robot) -> Composition:
        """The text on expressions, for a robot.

        Raises:
            OptionError: an operation is impossible on expressions; the message has the number of its line in
                the text. Other exceptions of the text are not changed.
        """
        builder = Recorder()
        handle = Handle(robot, builder)
        sized = self.signature.sized(robot.model.sizes)
        given = [_input(builder, x) for x in sized.inputs]
        results = self._results(self._run(handle, given), sized.outputs)
        outputs = [
            (x.name, x.shape, _elements(self.name, x, value))
            for x, value in zip(sized.outputs, results, strict=True)
        ]
        self._check_outputs(outputs)
        graph = builder.graph([*outputs, *builder.read])
        summary = (
            (inspect.getdoc(self._text) or f"the function {self.name} of the user")
            .splitlines()[0]
            .rstrip(".")
        )
        moving = handle.moving(x.name for x in sized.inputs if x.kind not in HELD)
        steps = tuple(builder.steps)
        return Composition(self.signature, summary, graph, steps, handle.reads_mass, moving)

    def _fixed(self) -> dict[str, Any]:
        """The static arguments of one run, which the text may change."""
        return deepcopy(self.static)

    def _inside(self, robot: Handle, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments of a call inside another text, with the shapes that are declared."""
        sized = self.signature.sized(robot.robot.model.sizes).inputs
        given = bound(self.name, sized, arguments, named)
        checked = []
        for x, value in zip(sized, given, strict=True):
            held = np.array(unpacked(value) if np.asarray(value).dtype == object else value)
            held = held.view(np.ndarray)
            if held.shape != x.shape:
                raise TextError(f"{self.name}: {x.name} has shape {held.shape}; give {x.shape}")
            if x.symmetric is not None:
                i, j = np.triu_indices(len(held), 1)
                held[i, j] = held[j, i]
            if x.kind == "held":
                robot.hold(f"{x.name} of {self.name}", held)
            checked.append(held.view(Array) if held.dtype == object else held[()])
        return checked

    def _run(self, handle: Handle, given: Sequence[Any]) -> Any:
        try:
            return self._text(handle, *given, **self._fixed())
        except (OptionError, GraphError) as error:
            raise OptionError(f"{self._where(error)}: {error}") from None
        except (TypeError, IndexError) as error:
            for said, remedy in _OF_NUMPY:
                if said in str(error):
                    raise OptionError(f"{self._where(error)}: {remedy}") from None
            raise
        except RecursionError:
            raise OptionError(f"function '{self.name}' calls itself without end; write a loop") from None

    def _where(self, error: BaseException) -> str:
        """The name of the function and the line of its text that raised."""
        file = self._text.__code__.co_filename
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
        ]
        return f"function '{self.name}', line {lines[-1]}" if lines else f"function '{self.name}'"

    def _results(self, found: Any, outputs: Sequence[SizedArgument]) -> list[Any]:
        """The results, one for each output that is named."""
        names = [x.name for x in outputs]
        if isinstance(found, Mapping):
            if list(found) != names:
                raise OptionError(f"function '{self.name}' returns {list(found)}; its outputs are {names}")
            return list(found.values())
        results = list(found) if isinstance(found, tuple) else [found]
        if len(results) != len(names):
            raise OptionError(
                f"function '{self.name}' returns {len(results)} value{'s' * (len(results) != 1)} and names "
                f"{len(names)} output{'s' * (len(names) != 1)} ({', '.join(names)}); return one for each"
            )
        return results

    def _check_outputs(self, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Any]]]) -> None:
        for name, _, elements in outputs:
            if not any(isinstance(x, Expr) and x.constant is None for x in elements):
                raise OptionError(
                    f"function '{self.name}': output '{name}' depends on no input; leave it out"
                )


def floats_of(
    function: Own, robot: Robot, arguments: Sequence[Any], named: Mapping[str, Any]
) -> dict[SizedArgument, Any]:
    """The arguments of a call on floats, by inputs. Raises OptionError if one is missing or has another
    shape.
    """
    if not isinstance(robot, Robot):
        raise OptionError(f"{function.name}: {robot!r} is no robot; give what rbdgen.load_robot returns")
    sized = function.signature.sized(robot.model.sizes).inputs
    given = bound(function.name, sized, arguments, named)
    return {x: _floats(function.name, x, value) for x, value in zip(sized, given, strict=True)}


def _input(builder: Builder, x: SizedArgument) -> Array:
    """The symbols of an input. Of a symmetric matrix, those of the lower triangle are taken twice."""
    values = np.empty(x.size, object)
    values[:] = builder.input(x.name, x.size)
    values = values.reshape(x.shape)
    if x.symmetric is not None:
        i, j = np.triu_indices(len(values), 1)
        values[i, j] = values[j, i]
    return values.view(Array)


def _floats(name: str, x: SizedArgument, value: Any) -> Any:
    """The floats of an input. Of a symmetric matrix, the lower triangle is taken twice."""
    try:
        found = np.array(value, float)
    except (TypeError, ValueError):
        raise OptionError(f"{name}: {x.name} is not an array of numbers; give shape {x.shape}") from None
    if found.shape != x.shape:
        raise OptionError(f"{name}: {x.name} has shape {found.shape}; give {x.shape}")
    return found[()] if x.symmetric is None else np.tril(found) + np.tril(found, -1).T


def _elements(name: str, x: SizedArgument, value: Any) -> list[Any]:
    """The row-major elements of an output. Raises OptionError for another shape than declared."""
    held = unpacked(value)
    if held.shape != x.shape:
        raise OptionError(
            f"function '{name}': output '{x.name}' has shape {held.shape}, but {x.shape} is declared; make "
            "them equal"
        )
    elements = list(held.view(np.ndarray).ravel())
    for element in elements:
        if isinstance(element, Condition) or not isinstance(element, (Expr, int, float, np.number)):
            raise OptionError(
                f"function '{name}': output '{x.name}' holds a {type(element).__name__}; give numbers, such "
                "as np.where(c, 1, 0)"
            )
    return elements


def function(
    text: Callable[..., Any] | None = None,
    *,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    static: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Any:
    """Make a function of robots from a Python function of your own, which is called its text. Use
    `rbdgen.function` as a decorator:

        @rbdgen.function(inputs={"target": ("m", 3)}, outputs={"tau": "tau"})
        def hold(robot, q, v, target):
            J = robot.frame_jacobian_aligned(q)[0, :3]
            error = target - robot.frame_placement(q).p[0]
            return J.T @ (100 * error - 20 * (J @ v)) + robot.nle(q, v)

    The text takes the robot, whose methods are the functions of the library, and arrays, on which NumPy's
    functions work. It runs once, on expressions, so `if` and `while` can only depend on what is known then.

    Args:
        text: the function that is decorated.
        inputs: the inputs by name, unless they are q, v, a, tau, fext or dt: a `Quantity`, a unit and sizes
            such as ("m", 3) or ("N", "nv"), a unit of a number such as "s", or one of the known arrays such
            as "q".
        outputs: the outputs by name, in the order in which the text returns them, declared like inputs.
        static: values of arguments of the text that are fixed when code is generated, such as {"steps": 4}.
        name: the name of the function; by default that of the text.

    Returns:
        The function, for `rbdgen.build` and `rbdgen.generate`. A call with a robot and arrays of floats runs
        the text as it stands.

    Raises:
        RbdgenError: a name is taken or no identifier of C, or an array is not declared soundly; one line.
    """
    fixed = {} if static is None else dict(static)

    def made(text: Callable[..., Any]) -> OwnFunction:
        called = str(name or getattr(text, "__name__", ""))
        try:
            parameters = list(inspect.signature(text).parameters.values())
        except (TypeError, ValueError):
            raise OptionError(f"function: {text!r} is no function of Python; decorate one") from None
        if not parameters or any(x.kind in (x.VAR_POSITIONAL, x.VAR_KEYWORD) for x in parameters):
            raise OptionError(f"function '{called}': write def {called}(robot, q, ...), without * and **")
        arguments = [x.name for x in parameters[1:]]
        for key in fixed:
            if key not in arguments:
                raise OptionError(
                    f"function '{called}': the text takes no argument '{key}'; leave it out of static"
                )
        taken = [x for x in arguments if x not in fixed]
        return OwnFunction(text, signature(called, taken, inputs or {}, outputs or {}), fixed)

    return made if text is None else made(text)
