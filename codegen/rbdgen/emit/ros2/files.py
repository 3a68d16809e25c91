"""The files of a package of ROS 2."""

from __future__ import annotations

import json
from typing import Final

from rbdgen.emit.folder import Folder
from rbdgen.emit.package import JointFacts
from rbdgen.emit.text import filled

STRONGEST: Final = 1e9
"""The limit of the effort of a joint that has none in its description, in N m or N."""

TEMPLATES: Final = {
    "ros2/package.xml": "package.xml",
    "ros2/CMakeLists.txt": "CMakeLists.txt",
    "ros2/solver.xml": "solver.xml",
    "ros2/controller.xml": "controller.xml",
    "ros2/include/{robot}_ros2/inverse_dynamics.hpp": "inverse_dynamics.hpp",
    "ros2/include/{robot}_ros2/effort_controller.hpp": "effort_controller.hpp",
    "ros2/src/plugins.cpp": "plugins.cpp",
}
"""The templates of the files."""


def files(folder: Folder) -> dict[str, str]:
    """The package, by path."""
    joints = folder.facts.joints
    context = {
        "robot": folder.robot,
        "release": folder.robot.release,
        "joints": [_text(joint.name) for joint in joints],
        "efforts": [_effort(joint) for joint in joints],
    }
    return {
        path.format(robot=folder.name): filled(f"ros2/{template}.jinja", **context)
        for path, template in TEMPLATES.items()
    }


def _text(name: str) -> str:
    """A name as a literal of C++ in UTF-8; characters that are not plain are written in octal."""
    plain = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in name.encode()
    )
    return f'"{"".join(plain)}"'


def _effort(joint: JointFacts) -> str:
    """The largest effort of a joint as a literal."""
    return json.dumps(STRONGEST if joint.effort is None else float(joint.effort))
