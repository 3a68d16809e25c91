"""The families of functions: one page each, which begins with what its functions have in common, in
`introductions/`.

The rows of the families, and thus the names of functions, come from the table of functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from rbdgen.functions.closed_loops import rows as loops
from rbdgen.functions.configurations import rows as configurations
from rbdgen.functions.contacts import derivative_rows as contact_derivatives
from rbdgen.functions.contacts import forward_rows as contact_forward
from rbdgen.functions.contacts import inverse_rows as contact_inverse
from rbdgen.functions.contacts import kinematic_rows as contact_kinematics
from rbdgen.functions.coriolis import rows as coriolis
from rbdgen.functions.derivatives import rows as derivatives
from rbdgen.functions.forward_dynamics import rows as forward_dynamics
from rbdgen.functions.free_base import rows as free_base
from rbdgen.functions.friction import derivative_rows as friction_derivatives
from rbdgen.functions.friction import rows as friction
from rbdgen.functions.function import Function
from rbdgen.functions.inertia_matrix import rows as inertia_matrix
from rbdgen.functions.inverse_dynamics import rows as inverse_dynamics
from rbdgen.functions.kinematics import rows as kinematics
from rbdgen.functions.momentum import rows as momentum
from rbdgen.functions.operational import ik_rows as inverse_kinematics
from rbdgen.functions.operational import rows as operational
from rbdgen.functions.regressors import rows as regressors
from rbdgen.functions.second_derivatives import rows as second_derivatives
from rbdgen.functions.sensitivities import rows as sensitivities
from rbdgen.functions.trajectories import rows as trajectories
from rbdgen.functions.world_aligned import rows as world_aligned

_TEXTS: Final = Path(__file__).parent / "introductions"


class Rows(Protocol):
    """A module with rows of the table of functions."""

    @property
    def ROWS(self) -> Sequence[Function]: ...


@dataclass(frozen=True)
class Family:
    """Functions that share a page."""

    page: str
    """The name of the page, without its suffix."""
    title: str
    modules: tuple[Rows, ...]

    @property
    def text(self) -> str:
        """What the functions have in common, in Markdown."""
        return (_TEXTS / f"{self.page}.md").read_text(encoding="utf-8")

    @property
    def names(self) -> list[str]:
        return [row.name for module in self.modules for row in module.ROWS]


FAMILIES: Final = (
    Family(
        "inverse-dynamics",
        "Inverse dynamics",
        (inverse_dynamics,),
    ),
    Family(
        "forward-dynamics",
        "Forward dynamics",
        (forward_dynamics,),
    ),
    Family(
        "inertia-matrix",
        "The joint-space inertia matrix",
        (inertia_matrix,),
    ),
    Family(
        "coriolis",
        "The Coriolis matrix",
        (coriolis,),
    ),
    Family(
        "derivatives",
        "Derivatives of dynamics",
        (derivatives,),
    ),
    Family(
        "second-derivatives",
        "Second derivatives of dynamics",
        (second_derivatives,),
    ),
    Family(
        "momentum",
        "Energy, centre of mass and momentum",
        (momentum,),
    ),
    Family(
        "frames",
        "Frames",
        (kinematics,),
    ),
    Family(
        "operational-space",
        "Operational space and inverse kinematics",
        (operational, inverse_kinematics),
    ),
    Family(
        "free-base",
        "A free base that is eliminated",
        (free_base,),
    ),
    Family(
        "regressors",
        "Regressors and parameters",
        (regressors, sensitivities),
    ),
    Family(
        "configurations",
        "Configurations and time steps",
        (configurations, trajectories),
    ),
    Family(
        "world-aligned",
        "A floating base in world axes",
        (world_aligned,),
    ),
    Family(
        "closed-loops",
        "Closed loops",
        (loops,),
    ),
    Family(
        "contacts",
        "Contacts",
        (contact_kinematics, contact_forward, contact_derivatives, contact_inverse),
    ),
    Family(
        "friction",
        "Contacts with friction",
        (friction, friction_derivatives),
    ),
)
