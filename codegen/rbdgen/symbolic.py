"""The functions of a robot as expressions and as closed formulas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rbdgen.errors import OptionError

if TYPE_CHECKING:
    from rbdgen.formulas.equations import Equations
    from rbdgen.model.build import Robot
    from rbdgen.own.text import Own


def equations(
    robot: Robot | str | Path,
    functions: str | Sequence[str] | None = None,
    symbols: str | Sequence[str] = "all",
    budget_terms: int = 1000,
) -> Equations:
    """The equations of motion of a small robot as closed, simplified formulas.

    `equations(robot).matrices` has the SymPy matrices "M", "C" and "g" of M(q) a + C(q, v) v + g(q) = tau in
    the symbols q1, v1, m1 and so on, and `.values` has the values of m1 and so on. `.text()`, `.latex()` and
    `.html()` return documents.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or the first argument of `load_robot`, such as a path.
        functions: some of "crba" (M), "coriolis" (C, from Christoffel symbols, so that dM/dt - 2 C is
            skew-symmetric without damping), "gravity" (g), "nle" (h = C v + g), "rnea" (tau),
            "kinetic_energy" (T) and "potential_energy" (U); None means M, C and g.
        symbols: the numbers that become symbols: "masses" (m1, kg), "lengths" (l1 to the next joint, lc1 to
            the centre of mass, m), "inertias" (I1 about the centre of mass, in the body's axes, kg m^2) and
            "gravity" (g, m/s^2); "all" or "none". A body includes the links that are fixed to it.
        budget_terms: the largest number of terms of all formulas together.

    Raises:
        RbdgenError: a name is unknown, or the robot is too large, has closed loops or Coulomb friction, or,
            for "coriolis", has a joint whose v is not dq/dt; one line.
    """
    from rbdgen.formulas.equations import equations_of  # noqa: PLC0415  (keeps `import rbdgen` quick)
    from rbdgen.pipeline.robot import robot_of  # noqa: PLC0415

    return equations_of(robot_of(robot), functions, symbols, budget_terms)


def trace(
    robot: Robot | str | Path,
    function: str | Own,
    engine: str = "casadi",
    variant: str | None = None,
    *,
    closed: bool = False,
) -> Any:
    """The expressions of a function, for your own use.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or the first argument of `load_robot`, such as a path.
        function: the name of a function (`rbdgen list`), or a function of your own.
        engine: "casadi" returns a `casadi.Function` over SX, named ROBOT_FUNCTION, with the inputs and
            outputs of the function; elements that are always 0 are structural zeros. "sympy" returns the
            intermediate quantities as (symbol, expression) in order, and one matrix per output.
        variant: the name of a form of the function (`rbdgen list --forms`, the textbook's first), in the
            joints' own axes. None means the expressions that are emitted: those of the cheapest form, in the
            body axes that save the most operations, after all simplifications.
        closed: with "sympy", whether to return one matrix per output in closed, simplified expressions of q1,
            v1 and so on, for small robots and the functions of `equations`, which can also make masses
            symbols.

    Raises:
        RbdgenError: there is no such function, engine or form, or it does not fit the robot; one line.
    """
    from rbdgen.pipeline import calls  # noqa: PLC0415  (keeps `import rbdgen` quick)

    if closed:
        if engine != "sympy" or variant is not None:
            raise OptionError(
                "closed expressions come from SymPy and have no form; give engine='sympy' alone"
            )
        return list(equations(robot, [str(function)], "none").matrices.values())
    return calls.trace(robot, function, engine, variant)
