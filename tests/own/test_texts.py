"""Texts that cannot become C are refused by a message of one line, with the number of the line at fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.own import ARM, reach

import rbdgen
from rbdgen.errors import OptionError
from rbdgen.functions.table import ALL
from rbdgen.own.handle import Handle
from rbdgen.own.text import OwnFunction
from rbdgen.pipeline.request import MOST_ARRAYS
from rbdgen.resources import template_root


def made(text: Callable[..., Any], outputs: Any = None, **told: Any) -> OwnFunction:
    told = {"name": "mine", "outputs": outputs or {"y": ("1", 7)}} | told
    function: OwnFunction = rbdgen.function(**told)(text)
    return function


def assigned(into: Any, values: Any) -> Any:
    into[:] = values
    return into


TEXTS: list[tuple[Callable[..., Any], str]] = [
    (lambda robot, q: q if q[0] > 0 else -q, "neither true nor false; take np.where, np.minimum"),
    (lambda robot, q: max(q[0], q[1]) * q, "neither true nor false; take np.where"),
    (lambda robot, q: np.sort(q), "np.sort does not exist for expressions"),
    (lambda robot, q: np.floor(q), "np.floor does not exist for expressions; there are absolute"),
    (lambda robot, q: np.linalg.eig(q), "np.linalg.eig does not exist for expressions"),
    (lambda robot, q: q + "a", "np.add does not take these operands"),
    (
        lambda robot, q: np.sin(np.array([q[0], q[1]])),
        "NumPy does not know expressions in arrays of np.array",
    ),
    (lambda robot, q: np.linalg.inv(np.array([[q[0], 0], [0, 1]])), "take rbdgen.array"),
    (lambda robot, q: assigned(np.zeros(7), q), "an array of floats cannot hold expressions; make arrays to"),
    (lambda robot, q: q[q > 0], "an index must be known when the text runs; take np.where(condition, x, y)"),
    (lambda robot, q: np.ones(7)[q > 0], "an index must be known when the text runs; take np.where"),
    (lambda robot, q: np.choose(q > 0, [q, 2 * q]), "np.choose does not exist for expressions"),
    (lambda robot, q: np.select([q > 0], [q, q]), "np.select takes as many conditions as choices"),
    (lambda robot, q: float(q[0]) * q, "cannot become a float; make arrays to fill with rbdgen.zeros"),
    (lambda robot, q: [1, 2, 3][q[0]] * q, "cannot become an index"),
    (lambda robot, q: robot.rnee(q), "robot.rnee: unknown function 'rnee'; did you mean 'rnea'"),
    (lambda robot, q: robot.contact_jacobian(q), "robot.contact_jacobian: function 'contact_jacobian' needs"),
    (lambda robot, q: robot.crba(q[:3]), "robot.crba: q has shape (3,); give (7,)"),
    (lambda robot, q: robot.rnea(q, q), "robot.rnea takes q, v, a; a is missing"),
    (lambda robot, q: robot.rnea(q, q, q, q), "robot.rnea takes q, v, a; 4 arguments are given"),
    (lambda robot, q: robot.rnea(q, q, b=q), "robot.rnea takes q, v, a; b is none of them"),
    (lambda robot, q: q[:3], "output 'y' has shape (3,), but (7,) is declared"),
    (lambda robot, q: (q, q), "returns 2 values and names 1 output (y); return one for each"),
    (lambda robot, q: {"z": q}, "returns ['z']; its outputs are ['y']"),
    (lambda robot, q: q > 0, "output 'y' holds a Condition; give numbers, such as np.where(c, 1, 0)"),
    (lambda robot, q: np.zeros(7), "output 'y' depends on no input; leave it out"),
    (lambda robot, q: rbdgen.solve(q, q), "solve: the matrix has shape (7,); give a square one"),
    (lambda robot, q: rbdgen.inv(robot.crba(q)), "inv: the matrix is 7 x 7, and 4 is the largest"),
    (lambda robot, q: rbdgen.cross(q, q), "cross: the vector has shape (7,); give (3,)"),
    (lambda robot, q: np.where(q > 0), "give np.where(c, x, y)"),
    (lambda robot, q: q * np.inf, "a constant of value inf; constants must be finite"),
]


@pytest.mark.parametrize(("text", "said"), TEXTS, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_refused(text: Callable[..., Any], said: str) -> None:
    with pytest.raises(OptionError) as caught:
        made(text).composition(ARM)
    assert said in str(caught.value)
    assert str(caught.value).startswith("function 'mine'")
    assert "\n" not in str(caught.value)


def test_the_line_is_told() -> None:
    def text(robot: Any, q: Any) -> Any:
        twice = 2 * q
        return twice if twice[0] > 0 else q

    line = text.__code__.co_firstlineno + 2
    with pytest.raises(OptionError, match=f"function 'mine', line {line}: "):
        made(text).composition(ARM)


def test_an_exception_of_the_text_is_not_changed() -> None:
    def text(robot: Any, q: Any) -> Any:
        raise KeyError("of the text")

    with pytest.raises(KeyError, match="of the text"):
        made(text).composition(ARM)


def test_recursion() -> None:
    def text(robot: Any, q: Any) -> Any:
        return endless(robot, q)

    endless = made(text)
    with pytest.raises(OptionError, match="function 'mine' calls itself without end"):
        endless.composition(ARM)


DECLARATIONS: list[tuple[dict[str, Any], str]] = [
    ({"name": "rnea", "outputs": {"y": "q"}}, "function 'rnea': rbdgen has a function rnea"),
    ({"name": "my_vjp", "outputs": {"y": "q"}}, "the name of a derivative"),
    ({"name": "my_batch", "outputs": {"y": "q"}}, "'NAME_batch' is emitted for a function NAME"),
    ({"name": "while", "outputs": {"y": "q"}}, "function 'while': 'while' is not usable as a name"),
    ({"name": "ä", "outputs": {"y": "q"}}, "not usable as a name in C and Python"),
    ({"outputs": {}}, "function 'text' names no output"),
    ({"outputs": {"q": "q"}}, "'q' is an input and an output"),
    ({"outputs": {"y": 3}}, "output, 'y': 3 is no quantity"),
    ({"outputs": {"y": ("m", 0)}}, "shape (0,): give positive integers, or sizes: nq"),
    ({"outputs": {"y": ("m", "nn")}}, "shape ('nn',): give positive integers, or sizes: nq"),
    ({"outputs": {"out": "q"}}, "every call takes an argument 'out'; rename it"),
    ({"outputs": {"q_dot": "q"}}, "'q_dot' would be the name of an array of a derivative; rename it"),
    ({"name": "sincos", "outputs": {"y": "q"}}, "generated packages have something else named 'sincos'"),
    ({"name": "math_exp", "outputs": {"y": "q"}}, "generated packages have something else named 'math_exp'"),
    ({"name": "selftest", "outputs": {"y": "q"}}, "something else named 'selftest'; take another name"),
    ({"outputs": {"table": "q"}}, "'table' is the array of parameters that stay inputs; rename it"),
    ({"outputs": {"sin_q": "q"}}, "'sin_q' is an input of code that is given sines; rename it"),
    ({"outputs": {"y": "q", "dy_dq": "q"}}, "'dy_dq' would be the name of an array of a derivative; rename"),
    ({"outputs": {"near": "q"}}, "an argument named 'near_bar' would hide a name of the emitted C; rename"),
    ({"outputs": {"t6": "q"}}, "an argument named 't6' would hide a local variable; rename it"),
    ({"outputs": {"angle": "q"}}, "an argument named 'angle' would hide a local variable; rename it"),
    ({"outputs": {"k": "q"}}, "an argument named 'k' would hide a name of the emitted C"),
    ({"outputs": {"y": "q"}, "inputs": {"z": "q"}}, "the text takes no argument 'z'; leave it out of inputs"),
    ({"outputs": {"y": "q"}, "static": {"z": 1}}, "the text takes no argument 'z'; leave it out of static"),
]


def test_own_functions_hide_nothing_of_libraries() -> None:
    """The names that functions cannot have are those of the attributes of a library."""
    library = rbdgen.build(ARM, functions=["crba"])
    for name in set(dir(library)) - {"crba"}:
        with pytest.raises(OptionError, match=rf"function '{name}': .*; take another"):
            made(lambda robot, q: q, name=name)


@pytest.mark.parametrize(("told", "said"), DECLARATIONS, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_declarations_are_refused(told: dict[str, Any], said: str) -> None:
    def text(robot: Any, q: Any) -> Any:
        return q

    with pytest.raises(OptionError) as caught:
        rbdgen.function(**told)(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_input_without_declaration_is_refused() -> None:
    with pytest.raises(OptionError, match="'x' is none of q, v, a, tau, fext, dt; declare it, inputs="):
        made(lambda robot, x: x)


@pytest.mark.parametrize("given", [(1, 0), (0, np.nan), (1,), "ab", (1e9, 1e9 + 1)])
def test_ranges_are_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="range"):
        rbdgen.Quantity("m", 3, range=given)


def test_a_root_of_negative_numbers_asks_for_a_range() -> None:
    """The self-test of a root draws numbers of either sign, unless its input has a range."""

    def text(robot: Any, q: Any, x: Any) -> Any:
        return np.sqrt(x) * q

    function = made(text, inputs={"x": rbdgen.Quantity("1", (), range=(0.5, 2))})
    library = rbdgen.build(ARM, functions=[function])
    assert np.isfinite(library.mine(np.ones(7), 1.5)).all()


def test_the_robot_is_the_robot_of_the_text() -> None:
    robot = Handle(ARM, None)  # type: ignore[arg-type]
    assert (robot.nq, robot.nv, robot.frames, robot.contacts) == (7, 7, ("link7",), ())
    assert robot.joint_names == ARM.joint_names
    assert robot.mass == ARM.mass
    assert not {name for name in dir(Handle) if not name.startswith("_")} & set(ALL)


def test_arguments_of_calls_on_floats() -> None:
    for arguments, said in (
        ((np.zeros(7),), "reach takes q, v, target, gains; v, target, gains are missing"),
        ((np.zeros(7), np.zeros(6), np.zeros(3), np.zeros(2)), r"v has shape \(6,\); give \(7,\)"),
        ((np.zeros(7), "a", np.zeros(3), np.zeros(2)), "v is not an array of numbers"),
    ):
        with pytest.raises(OptionError, match=said):
            reach(ARM, *arguments)
    with pytest.raises(OptionError, match="is no robot"):
        reach("arm7", 1)


def test_lists_of_functions() -> None:
    with pytest.raises(OptionError, match="two of them have the name 'mine'"):
        rbdgen.build(ARM, functions=[made(lambda robot, q: q), made(lambda robot, q: 2 * q)])
    with pytest.raises(OptionError, match="is no own function; decorate it with"):
        rbdgen.build(ARM, functions=["rnea"], own=[lambda robot, q: q])
    with pytest.raises(OptionError, match="unknown function 'reach'"):
        rbdgen.build(ARM, functions=["reach_vjp"])


def test_too_many_arrays_are_refused() -> None:
    """The number is that of the C code of calls."""
    calls = (template_root() / "python" / "calls.c").read_text()
    assert f"#define MOST_ARRAYS {MOST_ARRAYS} " in calls
    names = [f"x{k}" for k in range(63)]
    scope: dict[str, Any] = {}

    def many(count: int) -> OwnFunction:
        taken = names[:count]
        exec(f"def text(robot, {', '.join(taken)}):\n    return {' + '.join(taken)}", scope)
        return made(scope["text"], {"y": "1"}, inputs=dict.fromkeys(taken, "1"))

    library = rbdgen.build(ARM, functions=[many(63)])
    assert library.mine(*np.ones(63)) == 63
    assert library.mine(*np.ones((63, 5)), threads=2).tolist() == [63] * 5
    assert library.mine(*[[1], *[2.0] * 62]).tolist() == [125]
    with pytest.raises(OptionError, match="function 'mine_vjp' has 65 arrays, but a call takes at most 64"):
        rbdgen.build(ARM, functions=["mine_vjp"], own=[many(32)])


def test_a_mass_that_stays_an_input_is_not_a_number() -> None:
    function = made(lambda robot, q: robot.mass * q)
    rbdgen.build(ARM, functions=[function], params=["com:link7"])
    with pytest.raises(OptionError, match=r"function 'mine' reads robot.mass, which .*; give it an input"):
        rbdgen.build(ARM, functions=[function], params=["mass:link7"])


def test_held_inputs_of_called_functions_do_not_move() -> None:
    """A derivative that would also be by the value of an input that the called function holds is refused."""
    held = rbdgen.Quantity("1", 7, held=True)
    inner = made(lambda robot, q, w: w * q, inputs={"w": held}, name="inner")
    still = made(lambda robot, q, w: inner(robot, q, 2 * w), inputs={"w": held})
    assert still.composition(ARM).moving == ()
    moved = made(lambda robot, q: inner(robot, q, robot.crba(q) @ q))
    assert moved.composition(ARM).moving == ("w of inner",)
    rbdgen.build(ARM, functions=[moved])
    for name in ("mine_vjp", "mine_jacobian"):
        with pytest.raises(OptionError, match=f"function '{name}': 'mine' gives w of inner, which is held"):
            rbdgen.build(ARM, functions=[name], own=[moved])


def test_files(tmp_path: Path) -> None:
    from rbdgen.own.asked import functions_of_file  # noqa: PLC0415

    with pytest.raises(OptionError, match="no such file"):
        functions_of_file(tmp_path / "missing.py")
    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(OptionError, match="defines no own function"):
        functions_of_file(tmp_path / "empty.py")
