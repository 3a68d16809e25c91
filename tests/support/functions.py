"""Functions of the table, by their family and by what they need of a robot."""

from __future__ import annotations

from rbdgen.functions.configurations import rows as configurations
from rbdgen.functions.function import Function
from rbdgen.functions.needs import (
    ANCHORED,
    CONTACTS,
    FLOATING,
    FLOATING_WITH_JOINTS,
    FRAMES,
    INDEPENDENT,
    LOOPS,
    Need,
)
from rbdgen.functions.second_derivatives import rows as second_derivatives
from rbdgen.functions.table import ALL
from rbdgen.functions.trajectories import rows as trajectories


def named(rows: tuple[Function, ...]) -> dict[str, Function]:
    """These rows as the table has them, with joint resistance."""
    return {row.name: ALL[row.name] for row in rows}


def needing(*needs: Need) -> dict[str, Function]:
    """All functions that need exactly this."""
    return {name: row for name, row in ALL.items() if row.needs == needs}


SECOND = named(second_derivatives.ROWS)
OF_CONFIGURATIONS = named(configurations.ROWS)
OF_TRAJECTORIES = named(trajectories.ROWS)
OF_FLOATING_BASES = needing(FLOATING)
OF_FRAMES = {name: row for name, row in needing(FRAMES).items() if row.pinocchio}
OF_CLOSED_LOOPS = needing(LOOPS)
BY_INDEPENDENT = needing(INDEPENDENT)
OF_CONTACTS = needing(CONTACTS)
OF_ANCHORED_CONTACTS = needing(ANCHORED)
OF_FLOATING_CONTACTS = needing(FLOATING_WITH_JOINTS, CONTACTS)
