"""The choice of a program for a function, and of alike limbs as lanes instead of a straight line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from rbdgen.errors import OptionError
from rbdgen.functions.form import LIMBS
from rbdgen.functions.function import Function
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.lanes import work
from rbdgen.graph.programs.program import Program
from rbdgen.selection.axes import BodyAxes
from rbdgen.selection.limbs import LONGEST, InLimbs
from rbdgen.selection.limits import LIMITS
from rbdgen.wording import option


@dataclass(frozen=True)
class Choice:
    """The cheapest program of a function, how it was made, and what the other forms cost."""

    program: Program
    form: str
    axes: str
    alternatives: dict[str, Cost] = field(default_factory=dict)
    lanes: Program | None = None
    """The program with alike limbs as the lanes of vectors, if that is faster."""
    apart: Program | None = None
    """The straight line with the fewest operations, for batches, if `program` is another one."""
    tried: tuple[BodyAxes | None, ...] = ()
    """The axes in which a straight line was traced; those that its own search found come last."""


def faster_by_limbs(
    line: Choice,
    find: Callable[[float], InLimbs | None],
    function: Function,
    forced: str | None,
    *,
    apart: bool,
) -> Choice | None:
    """The choice with alike limbs as lanes; None if a straight line is faster.

    `find` gives the line with lanes that takes the least work, if that is at most a limit. `apart` says
    whether batches may run the straight line. Raises OptionError if the form is forced and too long.
    """
    most = inf if forced else LIMITS.most_work * work(line.program.loops[0], 1)
    in_limbs = find(most)
    limit = inf if forced else LIMITS.most_batch_loss * line.program.cost.total
    if in_limbs is not None and in_limbs.by_limb.cost.total <= limit:
        fewer = apart and line.program.cost.total < in_limbs.by_limb.cost.total
        own = line.program if fewer else None
        return Choice(in_limbs.by_limb, LIMBS, in_limbs.axes, line.alternatives, in_limbs.lanes, own)
    if forced:
        raise OptionError(
            f"{option('variants', {function.name: LIMBS})}: its straight line has more than "
            f"{LONGEST} operations, for which compilers take long; leave the choice to rbdgen"
        )
    return None
