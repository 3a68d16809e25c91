"""The build tools that exclude other options, and how."""

from __future__ import annotations

from typing import Final

from rbdgen.options import Options
from rbdgen.wording import option

PORTABLE: Final = "portable"

FIRMWARE: Final = frozenset({"platformio", "arduino", "zephyr", "esp-idf"})
"""The tools that build firmware."""


def refused(tool: str, options: Options, *, small_machine: bool) -> str | None:
    """The reason why the options exclude a description for this build tool, with advice; None if they do not.

    Other arguments are those of `Backend.refused`.
    """
    asked = option("target", options.target)
    if tool in FIRMWARE and not (small_machine or options.target == PORTABLE):
        return (
            f"{tool} builds firmware, and {asked} writes no C for it; take {option('target', PORTABLE)} or a "
            "small machine, such as cortex-m4f"
        )
    if tool == "esp-idf" and options.target.startswith("cortex-"):
        return f"ESP-IDF has no chips of Arm; take {option('target', PORTABLE)} in place of {asked}"
    if tool == "colcon" and options.target not in ("host", PORTABLE):
        return f"ROS 2 does not run there; take {option('target', PORTABLE)} in place of {asked}"
    return None
