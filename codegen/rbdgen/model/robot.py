"""A robot: its model, and the description and options from which it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rbdgen.description.quoting import escaped
from rbdgen.description.schema import Description
from rbdgen.model.attachments import Attachment
from rbdgen.model.frames import Frame, known_frames
from rbdgen.model.joints import Joint
from rbdgen.model.mimic import Follower
from rbdgen.model.model import Model
from rbdgen.model.outline import Line, outline, position_limits
from rbdgen.model.resistance import LOSSLESS, Dissipation
from rbdgen.model.rotations import Snapped

Array: TypeAlias = npt.NDArray[Any]

Base: TypeAlias = Literal["fixed", "floating"]


@dataclass(frozen=True)
class Robot:
    """A model and its origin: all that the generator needs to know of one robot."""

    model: Model
    description: Description
    base: Base
    snap: float
    attachments: tuple[Attachment, ...]
    snapped: tuple[Snapped, ...]
    warnings: tuple[str, ...]
    dissipation: Dissipation = LOSSLESS
    followers: tuple[Follower, ...] = ()
    independent_rows: tuple[int, ...] | None = None
    """Rows of its closed loops that imply all others; None if they are not known."""

    def show(self, q: Any = None, **options: Any) -> Any:
        """The page of the robot, which shows it in 3D and runs its generated C in a browser.

        A notebook displays the result, `.save(PATH)` writes it, and `.open()` opens it in the browser.

        Args:
            q: the configuration at the beginning, (nq,). By default joints are at 0, or at the nearer limit.
            options: as those of `rbdgen show`: `pose` has the positions of joints by name instead of q,
                `functions` names functions whose C is shown besides, `triangles` is the number of triangles
                of all meshes together, `shapes=False` draws a skeleton, `all=True` shows the costs of all
                functions, and `figures=True` flash and stack of a Cortex-M4F.

        Raises:
            OptionError: an unknown function or joint, or a value that is no configuration.
        """
        page = import_module("rbdgen.show.page")  # by its name, because it needs all that robots become
        return page.page_of(self, q=q, **options)

    def __repr__(self) -> str:
        joints = f"{len(self.joints)} joint{'' if len(self.joints) == 1 else 's'}"
        sizes = f"nq {self.nq}, nv {self.nv}, {self.mass:.6g} kg"
        return f"<Robot {escaped(self.name)}: {self.base} base, {joints}, {sizes}>"

    def _repr_html_(self) -> str:
        """The tree, as notebooks show it."""
        return self.outline().html()

    def tree(self) -> str:
        """The tree of bodies as text, as `rbdgen inspect` shows it.

        A body has its mass, its joint with the joint's elements of q and v, and the links and frames that it
        carries. The chosen frames, contacts and closed loops follow.
        """
        return self.outline().drawn()

    def outline(self) -> Line:
        """The tree of bodies as nested lines."""
        known = self.known_frames
        places = [(place.name, known[place.name].body) for place in self.description.places]
        return outline(self.model, self.base, self.merged, places)

    @property
    def name(self) -> str:
        """The name of the robot in its description."""
        return self.model.name

    @property
    def nq(self) -> int:
        """The length of q."""
        return self.model.sizes["nq"]

    @property
    def nv(self) -> int:
        """The length of v, a and tau: the degrees of freedom."""
        return self.model.sizes["nv"]

    @property
    def mass(self) -> float:
        """The mass of all moving bodies, in kg. Links that are fixed to the world do not count."""
        return float(sum(body.inertia.mass for body in self.model.bodies))

    @property
    def bodies(self) -> tuple[str, ...]:
        """The names of the moving bodies, in the order of external forces and inertial parameters."""
        return tuple(self.model.bodies[i].name for i in self.model.visible)

    @property
    def lower(self) -> Array:
        """The lower position limits (nq,), in rad or m. Functions do not enforce limits.

        They are -inf where the description has none, and for joints with several coordinates, such as a
        floating base.
        """
        return np.array(position_limits(self._coordinate_joints)[0])

    @property
    def upper(self) -> Array:
        """The upper position limits (nq,), as in `lower`; inf where there is none."""
        return np.array(position_limits(self._coordinate_joints)[1])

    @property
    def _coordinate_joints(self) -> list[Joint]:
        """The joints that have elements of q, in order."""
        return [body.joint for body in self.model.bodies if body.joint.follows is None]

    @property
    def known_frames(self) -> Mapping[str, Frame]:
        """All frames by name, including those that were not chosen."""
        return known_frames(self.description, self.attachments, self.snap)

    @property
    def merged(self) -> tuple[Attachment, ...]:
        """The fixed links, whose inertia was added to that of a body, or which the world carries."""
        return tuple(attachment for attachment in self.attachments if attachment.merged)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the moving joints in order, without the base and without those that follow others."""
        return tuple(joint.name for joint in self.joints)

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The moving joints in order, without the base and without those that follow others."""
        moving = (body.joint for body in self.model.bodies[self.base == "floating" :])
        return tuple(joint for joint in moving if joint.follows is None)
