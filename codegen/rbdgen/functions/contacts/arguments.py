"""What functions of contacts take and give.

Rows stand contact by contact in the order given, linear, then angular, in world axes; of a loop in the
axes of the last body that both of its ends hang on.
"""

from __future__ import annotations

from rbdgen.signature import Argument

ACTIVE = Argument(
    "active",
    "nonnegative",
    ("ncontacts",),
    "1",
    "1 where a contact holds, 0 where it is as if it were not there",
)
MU = Argument(
    "mu",
    "nonnegative",
    (1,),
    "1/kg, 1/(kg m^2)",
    "compliance: J a + drift + mu lambda = 0; 0 where active rows are independent, else such as 1e-8",
)
LAMBDA = Argument(
    "forces",
    "values",
    ("nc",),
    "N, N m",
    "lambda: what the world does to the robot in the contacts, world axes",
)


def rows(name: str, unit: str, meaning: str) -> Argument:
    """A number for every row of every contact."""
    return Argument(name, "values", ("nc",), unit, meaning)


def jacobian(name: str, unit: str, meaning: str) -> Argument:
    """A row for every row of every contact, a column for every degree of freedom."""
    return Argument(name, "columns", ("nc", "nv"), unit, meaning)
