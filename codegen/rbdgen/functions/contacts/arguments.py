"""Inputs and outputs that functions of contacts share.

Rows are ordered contact by contact as given; each contact has linear rows, then angular ones. They are in
world axes; those of a closed loop are in the axes of the last body that carries both of its ends.
"""

from __future__ import annotations

from rbdgen.signature import Argument

ACTIVE = Argument(
    "active",
    "nonnegative",
    ("ncontacts",),
    "1",
    "1 for contacts that are closed, 0 for those that are open",
    default=1.0,
)
MU = Argument(
    "mu",
    "nonnegative",
    (1,),
    "1/kg, 1/(kg m^2)",
    "compliance: J a + drift + mu lambda = 0; 0 if active rows are independent, otherwise such as 1e-8",
    default=0.0,
)
LAMBDA = Argument(
    "forces",
    "values",
    ("nc",),
    "N, N m",
    "lambda: contact forces and moments on the robot, in the rows' axes",
)


def rows(name: str, unit: str, meaning: str) -> Argument:
    """A vector with a number for every row of every contact."""
    return Argument(name, "values", ("nc",), unit, meaning)


def jacobian(name: str, unit: str, meaning: str) -> Argument:
    """A matrix with a row for every row of every contact, and a column for every degree of freedom."""
    return Argument(name, "columns", ("nc", "nv"), unit, meaning)
