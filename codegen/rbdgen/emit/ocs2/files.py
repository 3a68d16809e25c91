"""The header with models for OCS2."""

from __future__ import annotations

from rbdgen.emit.folder import Folder
from rbdgen.emit.motions import continuous_functions, driven
from rbdgen.emit.text import filled


def files(folder: Folder) -> dict[str, str]:
    """The header, by path."""
    text = filled(
        "ocs2/ROBOT_ocs2.hpp.jinja",
        robot=folder.robot,
        models=continuous_functions(folder),
        driven=driven(folder),
    )
    return {f"ocs2/{folder.name}_ocs2.hpp": text}
