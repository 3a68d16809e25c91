"""Parses XML with checks of size, encoding, entities and syntax, and converts attributes of elements."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from lxml import etree

from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.schema import Vector3
from rbdgen.errors import DescriptionError, either

MAX_BYTES = 20_000_000
"""The largest size of a file, in bytes. Humanoids with hands take less than 1 MB."""

MOST_ELEMENTS = 300_000
"""The largest number of elements of a file; a robot with thousands of links has a tenth of them."""

MORE = f"or allow more with {either('bounds=FACTOR', '--bounds FACTOR')}"

DEEPEST = 256
"""The depth at which the parser stops."""

XACRO = "http://www.ros.org/wiki/xacro"
"""The namespace of xacro's elements."""

# A double of XML Schema without INF and NaN. Python's float() would also accept 1_000 and nan.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


def read_bytes(path: str, bounds: float = 1.0) -> bytes:
    """The file's bytes, at most `bounds` times `MAX_BYTES` of them.

    Raises DescriptionError for a missing or unreadable file, a directory, and a file that is too large or has
    too many elements.
    """
    most = int(bounds * MAX_BYTES)
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            # The size of a pipe or a device is 0, so the number of bytes read is bounded as well.
            data = read_most(file, most) if size <= most else b""
    except FileNotFoundError:
        raise DescriptionError(path, None, "no such file", "give the path of a URDF file") from None
    except IsADirectoryError:
        raise DescriptionError(path, None, "is a directory", "give the URDF file in it") from None
    except PermissionError:
        raise DescriptionError(path, None, "may not be read", "check the file's permissions") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        what = f"cannot be read ({error.strerror if isinstance(error, OSError) else error})"
        raise DescriptionError(path, None, what, "give the path of a URDF file") from None
    if max(size, len(data)) > most:
        found = f"{size / 1e6:.1f} MB" if size > most else "larger"
        what = f"is {found}, more than the {most / 1e6:g} MB a description may have"
        what_to_do = "check that it is a URDF, keep meshes in files of their own"
        raise DescriptionError(path, None, what, f"{what_to_do}, {MORE}")
    check_elements(data, path, bounds)
    return data


def read_most(file: BinaryIO, most: int) -> bytes:
    """The rest of a file, but at most one byte more than `most`."""
    parts, left = [], most + 1
    while left > 0 and (part := file.read(min(left, 1 << 20))):  # one read would allocate all bytes
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def check_elements(data: bytes, path: str, bounds: float = 1.0) -> None:
    """Raises DescriptionError for a text with more elements than a description may have.

    Their start tags are counted before any parser makes a tree of them, which takes up to a kilobyte each.
    """
    most = int(bounds * MOST_ELEMENTS)
    if data.count(b"<") > most and data.count(b"<") - data.count(b"</") > most:
        what = f"has more than the {most:,} elements a description may have"
        raise DescriptionError(path, None, what, f"leave out what is not needed, {MORE}")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed robot file. Its methods find elements and convert attributes, or raise DescriptionError."""

    path: str  # the name of the file in messages
    root: etree._Element

    def error(self, line: int, what: str, what_to_do: str) -> DescriptionError:
        return DescriptionError(self.path, line, what, what_to_do)

    def warning(self, line: int, what: str) -> str:
        return f"{self.path}:{line}: {what}"

    def children(self, element: etree._Element, tag: str) -> list[etree._Element]:
        """The direct children with this tag, in the namespace of the root, which a file may declare."""
        namespace = etree.QName(self.root).namespace
        return element.findall(tag if namespace is None else f"{{{namespace}}}{tag}")

    def child(self, element: etree._Element, tag: str) -> etree._Element | None:
        found = self.children(element, tag)
        if len(found) > 1:
            what = f"{describe_element(element)} has {len(found)} <{tag}> elements"
            raise self.error(line_of(found[1]), what, "keep one")
        return found[0] if found else None

    def required_child(self, element: etree._Element, tag: str, what_to_do: str) -> etree._Element:
        found = self.child(element, tag)
        if found is None:
            raise self.error(line_of(element), f"{describe_element(element)} has no <{tag}>", what_to_do)
        return found

    def attribute(self, element: etree._Element, name: str) -> str:
        """The value of an attribute that must be present and not blank."""
        value = element.get(name)
        if value is None or not value.strip():
            found = "has no" if value is None else "has an empty"
            raise self.error(
                line_of(element), f"{describe_element(element)} {found} {name}", f'write {name}="..."'
            )
        return value

    def number(self, element: etree._Element, name: str, default: float | None = None) -> float:
        """The value of an attribute as a finite number; `default` if the attribute is missing."""
        if default is not None and name not in element.attrib:
            return default
        return self._finite(element, name, self.attribute(element, name))

    def number_of(self, element: etree._Element, what: str) -> float:
        """The text of an element as a finite number; messages call the number `what`."""
        return self._finite(element, what, element.text or "")

    def optional_number(self, element: etree._Element, name: str) -> float | None:
        return self.number(element, name) if name in element.attrib else None

    def vector(self, element: etree._Element, name: str) -> Vector3:
        """The value of an attribute as three finite numbers separated by blanks."""
        x, y, z = self.numbers(element, name, "X Y Z")
        return x, y, z

    def numbers(self, element: etree._Element, name: str, form: str) -> tuple[float, ...]:
        """The value of an attribute as finite numbers separated by blanks, one for each word of `form`."""
        words, wanted = self.attribute(element, name).split(), len(form.split())
        if len(words) != wanted:
            what = f"{name} of {describe_element(element)} has {len(words)} numbers, not {wanted}"
            raise self.error(line_of(element), what, f'write {name}="{form}"')
        return tuple(self._finite(element, name, word) for word in words)

    def _finite(self, element: etree._Element, name: str, text: str) -> float:
        value = float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
        if not math.isfinite(value):
            what = f"{name} of {describe_element(element)} is {quoted(text)}, not a finite number"
            what_to_do = "write a decimal number"
            if "${" in text:
                what_to_do = f'write <robot xmlns:xacro="{XACRO}">, so that it is read as a xacro'
            raise self.error(line_of(element), what, what_to_do)
        return value


def parse(data: bytes, path: str, kind: str = "URDF", *, long_texts: bool = False) -> Document:
    """Parses a document with any root element.

    `kind` is what messages call the file. `long_texts` accepts texts of more than 10 MB, such as the numbers
    of a mesh.

    Raises DescriptionError unless the data is one well-formed UTF-8 document without a DOCTYPE.
    """
    if not data.strip():
        raise DescriptionError(path, None, "the file is empty", f"give a {kind} file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DescriptionError(path, line, "the file is not UTF-8", "save it in UTF-8") from None
    _refuse_doctype(text, path, kind)
    # The encoding is given, so that the file's own declaration cannot hide a DOCTYPE from the check above.
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=long_texts,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        message = (error.msg or "").rpartition(", line ")[0]
        raise _syntax_error(message, error.lineno, path) from None
    errors = parser.error_log.filter_from_errors()
    if errors:  # lxml raises no error for an undeclared prefix if a warning of libxml2 follows
        raise _syntax_error(errors[0].message, errors[0].line, path)
    return Document(path, root)


def line_of(element: etree._Element) -> int:
    return cast(int, element.sourceline)  # elements that come from a parser always have a line


def describe_element(element: etree._Element) -> str:
    """The name of an element in messages: its own name, or that of the link or joint that contains it."""
    tag = etree.QName(element).localname
    if (name := element.get("name")) is not None:
        return f"{tag} {quoted(name)}"
    for owner in element.iterancestors():
        if (name := owner.get("name")) is not None:
            return f"<{tag}> of {etree.QName(owner).localname} {quoted(name)}"
    return f"<{tag}>"


def _refuse_doctype(text: str, path: str, kind: str) -> None:
    """Raises DescriptionError if a DOCTYPE precedes the root element; only a DOCTYPE can define entities.

    The text is searched before a parser sees it, so that no parser expands an entity.
    """
    position = 0
    while (position := text.find("<", position)) >= 0:
        if text.startswith("<!DOCTYPE", position):
            line = text.count("\n", 0, position) + 1
            what = "the file has a DOCTYPE, which can define entities"
            raise DescriptionError(path, line, what, f"delete the DOCTYPE: a {kind} needs none")
        if text.startswith("<!--", position):
            end = text.find("-->", position + 4)
        elif text.startswith("<?", position):
            end = text.find("?>", position)
        else:
            return
        if end < 0:
            return
        position = end


def _syntax_error(message: str, line: int | None, path: str) -> DescriptionError:
    message = re.split(", (?:use|try) XML_PARSE", " ".join(message.split()))[0]
    if message.startswith("Namespace prefix xacro "):
        what_to_do = f'write <robot xmlns:xacro="{XACRO}">, or delete what needs xacro'
        return DescriptionError(path, line, "the prefix xacro is not declared", what_to_do)
    if message.startswith("Excessive depth"):
        message = f"elements nested more than {DEEPEST} deep"
    return DescriptionError(path, line, f"not XML: {escaped(message, 200)}", "correct the file")
