"""Reads the description of a robot from a path, the name of a bundled robot, a builder or a Pinocchio
model."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rbdgen.description.builder import RobotBuilder
from rbdgen.description.document import check_elements, parse, read_bytes
from rbdgen.description.form import form_of
from rbdgen.description.mjcf import read_mjcf
from rbdgen.description.pinocchio import is_pinocchio, read_pinocchio
from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description, File
from rbdgen.description.urdf import describe, parse_urdf
from rbdgen.description.xacro import expand
from rbdgen.errors import DescriptionError
from rbdgen.resources import robot_root

_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
"""Matches names of bundled robots, which have no suffix and no folder: `arm7`. `arm7.urdf` is a path."""


LONGEST_TOLD = 40
"""The number of characters of an XML text that a message quotes."""


def is_xml(source: str) -> bool:
    """Whether a text is a description itself rather than the path of one."""
    text = source.lstrip("\ufeff \t\r\n")
    return text.startswith("<") and ">" in text


def bundled_robots() -> dict[str, Path]:
    """The files of the robots that come with rbdgen, by name."""
    return {path.stem: path for path in sorted(robot_root().glob("*.urdf"))}


def find(source: str | os.PathLike[str]) -> str:
    """Returns the path of a robot file, given either the path itself or the name of a bundled robot.

    A file with this name takes precedence over a bundled robot; a folder with this name does not.

    Raises DescriptionError if no file, folder or bundled robot has this name.
    """
    path = os.fspath(source)
    if is_xml(path):
        told = quoted(path.strip(), LONGEST_TOLD)
        raise DescriptionError(
            told, None, "is XML and no path", "write it to a file and give the path of that file"
        )
    if not _NAME.fullmatch(path) or (Path(path).exists() and not Path(path).is_dir()):
        return path
    robots = bundled_robots()
    if path in robots:
        return str(robots[path])
    if Path(path).is_dir():
        return path
    near = get_close_matches(path, robots, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise DescriptionError(
        path, None, "no such file, and no bundled robot", f"{meant}these are bundled: {', '.join(robots)}"
    )


def read_description(
    source: str | os.PathLike[str] | RobotBuilder | Any,
    xacro_args: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    bounds: float = 1.0,
) -> Description:
    """Reads a robot from any source.

    Args:
        source: the path of a URDF, xacro or MJCF file, the name of a bundled robot, a
            `RobotBuilder`, or a Pinocchio model.
        xacro_args: the arguments of a xacro by name.
        ignore: the unsupported features of an MJCF file to leave out, some of `outside.IGNORABLE`.
        bounds: a factor that multiplies every bound on size and work, such as 20 MB for a file.

    Raises:
        DescriptionError: the robot cannot be read. The message is `FILE:LINE: what is wrong; what to do`; for
            a xacro, the line is that of its expansion.
    """
    if isinstance(source, RobotBuilder) or is_pinocchio(source):
        description = source.description() if isinstance(source, RobotBuilder) else read_pinocchio(source)
        _refuse_arguments(description.path, xacro_args)
        _refuse_ignoring(description.path, ignore)
        return description
    path = find(source)
    raw = read_bytes(path, bounds)
    document = parse(raw, path)
    form = form_of(document)
    if form != "xacro":
        _refuse_arguments(path, xacro_args)
    absolute = str(Path(path).absolute())
    if form == "mjcf":
        return replace(read_mjcf(document, ignore, bounds), file=File(absolute, "mjcf", raw))
    _refuse_ignoring(path, ignore)
    if form == "urdf":
        return replace(describe(document, raw), file=File(absolute, "urdf", raw))
    expanded = expand(path, xacro_args or {}, bounds)
    check_elements(expanded.urdf, expanded.path, bounds)
    description = parse_urdf(expanded.urdf, expanded.path)
    return replace(
        description,
        warnings=(*expanded.warnings, *description.warnings),
        file=File(absolute, "urdf", expanded.urdf),
    )


def _refuse_arguments(path: str, xacro_args: Mapping[str, str] | None) -> None:
    if xacro_args:
        raise DescriptionError(path, None, "this takes no xacro arguments", "leave them out")


def _refuse_ignoring(path: str, ignore: Collection[str]) -> None:
    if ignore:
        raise DescriptionError(path, None, "this is no MJCF, so there is nothing to ignore", "leave it out")
