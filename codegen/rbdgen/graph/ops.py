"""The operations of a graph, one row each.

A row says how an operation is computed, differentiated and counted, and what signs do to it. The modules of
`graph/` read it here, so that a new elementary function is one row, beside its kernels in `graph/kernels.py`
and `templates/c/kernels.jinja`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from rbdgen.graph.values import (
    absolute,
    beside,
    by_kernel,
    elementary,
    held,
    join,
    lane,
    largest,
    least,
    select,
    select_le,
    sign,
    turn,
)

Scalar = Any

Factors: TypeAlias = tuple[Scalar, ...]
"""A partial derivative, as the factors of a product."""

Slopes: TypeAlias = tuple[Factors | None, ...]
"""The partial derivative by each argument; None where it is 0."""

Signs: TypeAlias = Literal["own", "odd", "even", "fixed", "first", "together"]
"""The effect of minus signs on a function: f(-x) = -f(x) for "odd" and f(x) for "even"; the arguments of
"fixed" are computed with their signs. "first" is odd in the first argument, and the others are computed with
their signs. For "together", negating all values negates the result; values that are only compared keep their
signs: select(a, b, -x, -y) = -select(a, b, x, y), max(-x, -y) = -min(x, y).
Arithmetic has rules of its own in `graph/signs.py`.
"""

Column: TypeAlias = Literal["add", "mul", "div", "trig", ""]


@dataclass(frozen=True)
class Op:
    """An operation of a graph."""

    name: str
    arity: int
    """The number of its arguments, or `EACH_LANE`."""
    evaluate: Callable[..., Any]
    """Computes its value on NumPy's arrays and scalars, on objects and on floats."""
    signs: Signs = "own"
    slopes: Callable[..., Slopes] | None = None
    """A function that gives the slopes from the value and the arguments.

    It is None if the slopes are 0, or if `derivatives/slopes.py` has them.
    """
    compared: int = 0
    """The number of its first arguments that are compared."""
    opposite: str = ""
    """The operation that computes the opposite of its value, if that is another operation."""
    domain: str = ""
    """The condition on the argument under which the value is finite, in words; empty if there is none."""
    work: int = 1
    """The time of the operation, as a number of additions; see `graph/cost.py`."""
    rational: bool = False
    """Whether the result is rational if the arguments are."""
    of_lanes: bool = False
    """Whether lanes depend on each other."""
    column: Column = ""
    """The column of tables in which it is counted, beside that of the total."""
    unit: Literal["add", "multiply", "divide"] = "multiply"
    """The unit of a processor whose latency it has; see `graph/machine.py`."""
    casadi: str = ""
    """The name of the same function among CasADi's operations, if `graph/from_casadi.py` has no rule."""
    sympy: str = ""
    """The name of the same function in SymPy, if `graph/from_sympy.py` has no rule."""


DIVISION_WORK: Final = 4
"""Work of a division or square root. On current processors, its throughput is lower than that of an addition
by at least this factor. Therefore one reciprocal that two quotients share pays, although it is one operation
more.
"""

SIGN_WORK: Final = 5
"""Work of a sign: two comparisons, two sums and a product."""

SELECT_WORK: Final = 3
"""Work of a choice between two values: a comparison and operations on bits."""

EACH_LANE: Final = -1
"""The arity of an operation that takes one argument for each lane."""

TRIGONOMETRY_WORK: Final = 20
"""Work of a sine or cosine: the operations of a short polynomial and its reduction."""


def _slopes_of_select(op: str) -> Callable[..., Slopes]:
    """The slopes of a choice are those of the value that is taken; the compared operands have none."""
    return lambda _, a, b, x, y: (None, None, (_taken(op, a, b, 1, 0),), (_taken(op, a, b, 0, 1),))


def _taken(op: str, a: Scalar, b: Scalar, x: int, y: int) -> Scalar:
    return a.applied(op, a, b, x, y)


def _slopes_of_atan2(_: Scalar, a: Scalar, b: Scalar) -> Slopes:
    r = 1 / (a * a + b * b)
    return (b, r), (-a, r)


def _slope_of_asin(a: Scalar) -> Scalar:
    """1 / sqrt(1 - a^2), with a product that is exact near 1."""
    return 1 / ((1 - a) * (1 + a)).sqrt()


_ROWS: Final = (
    Op(
        "add",
        2,
        operator.add,
        rational=True,
        column="add",
        unit="add",
        casadi="OP_ADD",
        slopes=lambda _, a, b: ((), ()),
    ),
    Op("sub", 2, operator.sub, rational=True, column="add", unit="add", casadi="OP_SUB"),
    Op("mul", 2, operator.mul, rational=True, column="mul", casadi="OP_MUL"),
    Op(
        "div",
        2,
        operator.truediv,
        rational=True,
        column="div",
        work=DIVISION_WORK,
        unit="divide",
        casadi="OP_DIV",
    ),
    Op("neg", 1, operator.neg, rational=True, column="add", unit="add", casadi="OP_NEG"),
    Op("sq", 1, lambda a: a * a, "even", lambda _, a: ((a, 2),), rational=True, column="mul", casadi="OP_SQ"),
    Op(
        "sqrt",
        1,
        elementary("sqrt"),
        "fixed",
        lambda y, _: ((0.5 / y,),),
        domain="not be negative",
        work=DIVISION_WORK,
        column="div",
        unit="divide",
        casadi="OP_SQRT",
    ),
    Op(
        "sin",
        1,
        elementary("sin"),
        "odd",
        lambda _, a: ((a.cos(),),),
        work=TRIGONOMETRY_WORK,
        column="trig",
        casadi="OP_SIN",
        sympy="sin",
    ),
    Op(
        "cos",
        1,
        elementary("cos"),
        "even",
        lambda _, a: ((-a.sin(),),),
        work=TRIGONOMETRY_WORK,
        column="trig",
        casadi="OP_COS",
        sympy="cos",
    ),
    Op("sign", 1, sign, "odd", work=SIGN_WORK, rational=True, column="add", casadi="OP_SIGN", sympy="sign"),
    Op(
        "abs",
        1,
        absolute,
        "even",
        lambda y, a: ((y.applied("select", a, 0, -1, 1),),),
        rational=True,
        column="add",
        casadi="OP_FABS",
        sympy="Abs",
    ),
    Op(
        "max",
        2,
        largest,
        "together",
        lambda y, a, b: ((y.applied("select", b, a, 1, 0),), (y.applied("select", b, a, 0, 1),)),
        opposite="min",
        work=SELECT_WORK + 1,
        rational=True,
        column="add",
        casadi="OP_FMAX",
    ),
    Op("min", 2, least, work=SELECT_WORK + 1, rational=True, column="add", casadi="OP_FMIN"),
    Op(
        "select",
        4,
        select,
        "together",
        _slopes_of_select("select"),
        compared=2,
        work=SELECT_WORK,
        rational=True,
        column="add",
    ),
    Op(
        "select_le",
        4,
        select_le,
        "together",
        _slopes_of_select("select_le"),
        compared=2,
        work=SELECT_WORK,
        rational=True,
        column="add",
    ),
    Op(
        "exp",
        1,
        by_kernel("exp"),
        "fixed",
        lambda y, _: ((y,),),
        domain="be at most 709",
        work=30,
        column="trig",
        casadi="OP_EXP",
        sympy="exp",
    ),
    Op(
        "log",
        1,
        by_kernel("log"),
        "fixed",
        lambda _, a: ((1 / a,),),
        domain="be positive",
        work=40,
        column="trig",
        casadi="OP_LOG",
        sympy="log",
    ),
    Op(
        "tanh",
        1,
        by_kernel("tanh"),
        "odd",
        lambda y, _: ((1 - y * y,),),
        work=45,
        column="trig",
        casadi="OP_TANH",
        sympy="tanh",
    ),
    Op(
        "atan2",
        2,
        by_kernel("atan2", 2),
        "first",
        _slopes_of_atan2,
        work=60,
        column="trig",
        casadi="OP_ATAN2",
        sympy="atan2",
    ),
    Op(
        "asin",
        1,
        by_kernel("asin"),
        "odd",
        lambda _, a: ((_slope_of_asin(a),),),
        domain="be between -1 and 1",
        work=40,
        column="trig",
        casadi="OP_ASIN",
        sympy="asin",
    ),
    Op(
        "acos",
        1,
        by_kernel("acos"),
        "fixed",
        lambda _, a: ((-_slope_of_asin(a),),),
        domain="be between -1 and 1",
        work=40,
        column="trig",
        casadi="OP_ACOS",
        sympy="acos",
    ),
    Op(
        "tan",
        1,
        by_kernel("tan"),
        "odd",
        lambda y, _: ((1 + y * y,),),
        domain="be at most 1e5",
        work=50,
        column="trig",
        casadi="OP_TAN",
        sympy="tan",
    ),
    Op(
        "hypot",
        2,
        by_kernel("hypot", 2),
        "even",
        lambda y, a, b: ((a / y,), (b / y,)),
        domain="be at most 1e308",
        work=20,
        column="div",
        unit="divide",
        casadi="OP_HYPOT",
    ),
    Op("held", 1, held, "odd", rational=True, work=0),
    Op("join", 1, join, "odd", of_lanes=True),
    Op("turn", 1, turn, "odd", of_lanes=True),
    Op("lane", 2, lane, "first", of_lanes=True),
    Op("beside", EACH_LANE, beside, "fixed", of_lanes=True),
)

OPS: Final[Mapping[str, Op]] = MappingProxyType({row.name: row for row in _ROWS})
"""The operations that compute, in the order of counts: all but `const` and `input`."""

ARITY: Final[Mapping[str, int]] = MappingProxyType(
    {"const": 0, "input": 0} | {row.name: row.arity for row in _ROWS}
)


def named(signs: Signs) -> frozenset[str]:
    """The operations with these signs."""
    return frozenset(row.name for row in _ROWS if row.signs == signs)


FUNCTIONS: Final = (
    *("sqrt", "sin", "cos", "tan", "exp", "log", "tanh", "atan2", "asin", "acos", "hypot"),
    *("sign", "abs", "max", "min", "select"),
)
"""The functions that error messages list."""
