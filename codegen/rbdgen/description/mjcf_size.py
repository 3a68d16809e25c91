"""Estimates the memory that MuJoCo's compiler needs for an MJCF file, before the compiler runs.

The estimate uses the sizes that the file states: `<hfield nrow="30000" ncol="30000"/>` takes 14 GB. The
bytes of an entry were measured with MuJoCo 4.0 and rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from lxml import etree

from rbdgen.description.document import MORE, Document, line_of, parse, read_bytes

MOST_BYTES: Final = 1e9
"""The largest memory that the compiler may need, in bytes."""

MOST_ELEMENTS: Final = 20_000
"""The largest number of elements after replication, which takes some seconds. Large robots have hundreds."""

_HFIELD, _TEXTURE, _VALUE = 16.0, 6.0, 24.0
"""The bytes of an elevation of a height field, of a pixel of a texture, and of a user's number."""

_MESH = 20.0
"""The bytes of memory for each byte of a mesh file."""

_PNG: Final = b"\x89PNG\r\n\x1a\n"


class _Part(NamedTuple):
    """The main file or a file that it includes."""

    document: Document
    folders: Sequence[Path]  # the folders of meshes and other files that it names
    elements: int  # the number of its elements


def _part(document: Document) -> _Part:
    folder = Path(document.path).parent
    keys = ("meshdir", "texturedir", "assetdir")
    named = {compiler.get(key, "") for compiler in document.root.iter("{*}compiler") for key in keys}
    return _Part(
        document, [folder / name for name in sorted({"", *named})], sum(1 for _ in document.root.iter("*"))
    )


def check_size(document: Document, bounds: float = 1.0) -> None:
    """Raises DescriptionError for a file that asks for more than `bounds` times 1 GB or 20 000 elements."""
    elements = taken = 0.0
    for part, element, times in _elements(document, bounds):
        elements += times * _count(element)
        taken += times * _bytes(part, element)
        what = ""
        if not elements <= bounds * MOST_ELEMENTS:
            what = f"it has more than {bounds * MOST_ELEMENTS:,.0f} elements"
        elif not taken <= bounds * MOST_BYTES:
            what = f"its sizes ask for more than {bounds * MOST_BYTES / 1e9:g} GB of memory"
        if what:
            what_to_do = f"reduce the counts and sizes in it, {MORE}"
            raise part.document.error(line_of(element), what, what_to_do)


def _elements(document: Document, bounds: float) -> Iterator[tuple[_Part, etree._Element, float]]:
    """All elements of the file and of the files that it includes, with their file and their replications."""
    folder, seen = Path(document.path).parent, {Path(document.path).resolve()}
    stack: list[tuple[_Part, etree._Element, float]] = [(_part(document), document.root, 1.0)]
    while stack:
        part, element, times = stack.pop()
        tag = etree.QName(element).localname
        yield part, element, times
        inner = times * _product(element, "count") if tag == "replicate" else times
        stack += [(part, child, inner) for child in element.iterchildren("*", reversed=True)]
        file = folder / element.get("file", "")
        if tag in ("include", "model") and _exists(file) and file.resolve() not in seen:
            seen.add(file.resolve())
            included = parse(read_bytes(str(file), bounds), str(file))
            stack.append((_part(included), included.root, inner))


def _count(element: etree._Element) -> float:
    """The number of elements that the compiler makes of this one."""
    made = etree.QName(element).localname in ("composite", "flexcomp")
    return 3 * _product(element, "count") if made else 1.0


def _bytes(part: _Part, element: etree._Element) -> float:
    """The memory, in bytes, of the data that an element defines, in addition to that of the element
    itself."""
    tag = etree.QName(element).localname
    taken = _file(part.folders, element) if tag in ("mesh", "skin", "hfield", "texture", "flexcomp") else 0.0
    if tag == "hfield":
        taken += _HFIELD * _product(element, "nrow") * _product(element, "ncol")
    elif tag == "texture":
        sides = 6 if element.get("type", "cube") != "2d" else 1
        taken += sides * _TEXTURE * _product(element, "width") * _product(element, "height")
    elif tag == "mesh":
        taken += 200 * _product(element, "params") if "params" in element.attrib else 0.0
    elif tag == "size":
        names = [str(name) for name in element.attrib if str(name).startswith("n")]
        taken += sum(
            _VALUE * _product(element, name) * (part.elements if name.startswith("nuser_") else 100)
            for name in names
        )
    elif tag == "numeric":
        taken += _VALUE * _product(element, "size")
    for name in ("dim", "nsample", "actdim"):
        taken += _VALUE * _product(element, name) if name in element.attrib else 0.0
    return taken


def _product(element: etree._Element, name: str) -> float:
    """The product of the numbers of an attribute, each taken as at least 1.

    It is 1 if the attribute is missing, and if it has no numbers, which MuJoCo refuses.
    """
    try:
        numbers = [float(word) for word in element.get(name, "").split()]
    except ValueError:
        return 1.0
    return math.prod(max(number, 1.0) for number in numbers if not math.isnan(number))


def _exists(path: Path) -> bool:
    """Whether this is an existing file; False also for names that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _file(folders: Sequence[Path], element: etree._Element) -> float:
    """The memory, in bytes, of the file that an element names; 0 if it is missing, which MuJoCo refuses."""
    name = element.get("file", "")
    for folder in folders:
        path = folder / name
        if name and _exists(path):
            with path.open("rb") as file:
                head = file.read(24)
            if head.startswith(_PNG):
                width, height = (int.from_bytes(head[k : k + 4], "big") for k in (16, 20))
                return _HFIELD * width * height
            return _MESH * path.stat().st_size
    return 0.0
