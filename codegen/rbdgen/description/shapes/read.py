"""Reads the shapes of a robot: from the file of its description, or as they were given in Python.

Descriptions are read without shapes, because no function needs them: a broken shape never keeps code from
being written. This is a pass of its own over the same file.
"""

from __future__ import annotations

from dataclasses import replace

from rbdgen.description.document import parse
from rbdgen.description.ignored import first_of
from rbdgen.description.schema import Description
from rbdgen.description.shapes.built import built_shapes
from rbdgen.description.shapes.mjcf import mjcf_shapes
from rbdgen.description.shapes.shape import Shapes
from rbdgen.description.shapes.urdf import urdf_shapes
from rbdgen.errors import DescriptionError


def shapes_of(description: Description) -> Shapes:
    """The shapes of the links of a description, in the order of the file.

    A shape that cannot be read becomes a line of `missing`. Shapes of links that were dropped, and those of
    the world around a floating base of an MJCF, are left out. A robot from Pinocchio has no shapes.
    """
    read = _read(description)
    links = {link.name for link in description.links}
    kept = tuple(shape for shape in read.shapes if shape.link in links)
    return replace(read, shapes=kept, missing=tuple(first_of(iter(read.missing))))


def _read(description: Description) -> Shapes:
    file = description.file
    if file is None:
        return built_shapes(description.solids)
    document = parse(file.data, description.path)
    if file.form == "urdf":
        return urdf_shapes(document)
    try:
        return mjcf_shapes(document, file.path)
    except DescriptionError as error:  # the files that it names may have changed since
        return Shapes(missing=(str(error),))
