"""An estimate of a function's operations before it is traced, to refuse large ones at once.

Unrolled code grows with the robot, and that of derivatives with the cube of a chain's length. The estimates
in the rows of the catalogue are sums over the tree. Each term is the number of operations that the textbook's
form takes if no entry of any placement or axis is zero. Other forms, and real robots, take fewer.
"""

from __future__ import annotations

from collections.abc import Iterable

from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.model.model import Model
from rbdgen.wording import option


def check_budget(model: Model, functions: Iterable[Function], budget: int) -> None:
    """Raise `OptionError` if a function is estimated to take more operations than `budget`."""
    for function in functions:
        operations, looped = function.estimate(model), function.smallest
        if operations > budget:
            raise OptionError(
                f"{function.name} of '{model.name}' ({model.nbodies} bodies) would be unrolled to about "
                f"{operations:,} operations, the budget is {budget:,}; "
                + (
                    f"leave it out, loop over bodies by {option('variants', {function.name: looped.name})}, "
                    if looped
                    else "it has no form in loops, so leave it out, "
                )
                + f"fix joints that do not matter, or raise {option('budget')}"
            )
