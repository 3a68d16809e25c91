"""The header with models for Crocoddyl."""

from __future__ import annotations

from rbdgen.emit.folder import Folder
from rbdgen.emit.motions import continuous_functions, driven
from rbdgen.emit.text import filled


def files(folder: Folder) -> dict[str, str]:
    """The header, by path."""
    text = filled(
        "crocoddyl/ROBOT_crocoddyl.hpp.jinja",
        robot=folder.robot,
        models=continuous_functions(folder),
        driven=driven(folder),
        flat=folder.facts.manifold.flat,
        neutral=folder.facts.manifold.neutral().tolist(),
    )
    return {f"crocoddyl/{folder.name}_crocoddyl.hpp": text}
