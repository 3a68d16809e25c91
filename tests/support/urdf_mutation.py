"""Damages the trees, the numbers and names, and the bytes of robot files."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from random import Random

from lxml import etree

NUMBERS = (
    "0", "-0", "1", "-1", "+.5", "5.", "1e308", "-1e308", "1e154", "1e-154", "5e-324", "1e400", "1e-400",
    "nan", "inf", "-inf", "0x10", "1_000", "\uff11", "\u0663", "1,5", "1 m", "-", "+", ".", "e", "", " ",
    "${pi/2}", "1.5707963267948966", "1.5707963", "3.141592653589793", "1e-10", "0.1" * 50, "9" * 400,
)  # fmt: skip

TRIPLES = (
    "0 0 0",
    "1 0 0",
    "0 0 1e-9",
    "1 1e-8 0",
    "1e308 1e308 1e308",
    "1 2",
    "1 2 3 4",
    "0,0,1",
    "nan 0 1",
)

NAMES = (
    "a", "b", "c", "world", "", " ", "a b", "q", "int", "\u202e", "\u2028", "\x85", "a\nb", "'", '"', "<",
    "&", "\\", "../../x", "n" * 3000, "\u540d", "\U0001f916", "e\u0301", "%s{0}", "[red]",
)  # fmt: skip

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical", "", "Revolute")

FRAGMENTS = (
    '<link name="new"/>',
    '<joint name="new" type="revolute"><parent link="a"/><child link="b"/></joint>',
    '<joint name="new" type="fixed"><parent link="b"/><child link="a"/></joint>',
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>',
    '<origin xyz="0 1 0" rpy="1.5707963 0 0"/>',
    '<origin quat_xyzw="0 0 0 1"/>',
    '<axis xyz="0 0 1"/>',
    "<axis/>",
    '<limit lower="-1" upper="1" effort="1" velocity="1"/>',
    '<dynamics damping="1" friction="0.5"/>',
    '<mimic joint="a" multiplier="2" offset="1"/>',
    '<safety_controller k_velocity="1" k_position="1" soft_lower_limit="0" soft_upper_limit="1"/>',
    '<calibration rising="1"/>',
    '<transmission name="t"><joint name="a"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction>'
    "<motorInertia>1e-4</motorInertia></actuator></transmission>",
    '<gazebo reference="a"><implicitSpringDamper>1</implicitSpringDamper><springStiffness>2</springStiffness>'
    "</gazebo>",
    '<drake:rotor_inertia xmlns:drake="http://drake.mit.edu" value="1e-4"/>',
    '<visual><geometry><box size="1 1 1"/></geometry></visual>',
    "<mass/>",
    "<unknown unknown='1'/>",
)


def mutated(data: bytes, random: Random) -> bytes:
    """The file with one to five damages; those of the tree are only applied if it is still XML."""
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        parser = etree.XMLParser(resolve_entities=False, no_network=True, strip_cdata=False)
        root = None
        if random.random() < 0.85:
            try:
                root = etree.fromstring(data, parser)
            except (etree.XMLSyntaxError, ValueError):
                root = None
        if root is None:
            data = random.choice(_BYTES)(data, random)
        else:
            with suppress(ValueError):  # lxml reads names of attributes that it cannot write, such as "a:b"
                random.choice(_TREE)(root, random)
            data = etree.tostring(root)
    return data


def _element(root: etree._Element, random: Random) -> etree._Element:
    return random.choice(list(root.iter("*")))


def _attributed(root: etree._Element, random: Random) -> tuple[etree._Element, str] | None:
    """A random attribute of a random element."""
    found = [(element, name) for element in root.iter("*") for name in element.attrib]
    return random.choice(found) if found else None


def _change_value(root: etree._Element, random: Random) -> None:
    """Replaces a value, mostly a number by a number and a name by a name."""
    if (found := _attributed(root, random)) is None:
        return
    element, name = found
    words = element.attrib[name].split()
    if name == "type":
        new = random.choice(TYPES)
    elif name in ("name", "link", "joint", "reference"):
        used = [other.get(name, "") for other in root.iter("*") if other.get(name)]
        new = random.choice([*used, random.choice(NAMES)])
    elif name in ("xyz", "rpy") and random.random() < 0.3:
        new = random.choice(TRIPLES)
    else:
        words = words or [""]
        words[random.randrange(len(words))] = _number(random)
        new = " ".join(words)
    _set(element, name, new)


def _number(random: Random) -> str:
    if random.random() < 0.5:
        return random.choice(NUMBERS)
    return repr(random.choice((-1, 1)) * random.random() * 10.0 ** random.randint(-320, 308))


def _set(element: etree._Element, name: str, value: str) -> None:
    """Sets an attribute, without the characters that XML does not allow."""
    element.set(name, "".join(c for c in value if c in "\t\n\r" or ord(c) >= 32))


def _add_attribute(root: etree._Element, random: Random) -> None:
    name = random.choice(
        ("name", "type", "xyz", "rpy", "quat_xyzw", "value", "damping", "joint", "link", "other")
    )
    _set(_element(root, random), name, random.choice(NUMBERS + TRIPLES + NAMES))


def _delete_attribute(root: etree._Element, random: Random) -> None:
    if (found := _attributed(root, random)) is not None:
        element, name = found
        del element.attrib[name]


def _delete(root: etree._Element, random: Random) -> None:
    element = _element(root, random)
    if (parent := element.getparent()) is not None:
        parent.remove(element)


def _double(root: etree._Element, random: Random) -> None:
    element = _element(root, random)
    if element is not root:
        element.addnext(copy.deepcopy(element))


def _move(root: etree._Element, random: Random) -> None:
    moved, place = _element(root, random), _element(root, random)
    if moved is not root and moved not in (place, *place.iterancestors()):
        place.append(moved)


def _insert(root: etree._Element, random: Random) -> None:
    place = _element(root, random)
    place.insert(random.randint(0, len(place)), etree.fromstring(random.choice(FRAGMENTS)))


def _rename(root: etree._Element, random: Random) -> None:
    names = (
        "link",
        "joint",
        "inertial",
        "origin",
        "mimic",
        "robot",
        "x" * 300,
        "{http://drake.mit.edu}link",
        "\xe9",
    )
    _element(root, random).tag = random.choice(names)


def _annotate(root: etree._Element, random: Random) -> None:
    """Inserts a comment, a processing instruction or text at an unusual place."""
    place = _element(root, random)
    kind = random.randrange(4)
    if kind == 0:
        place.insert(0, etree.Comment("x <!DOCTYPE y"))
    elif kind == 1:
        place.insert(0, etree.ProcessingInstruction("xml-stylesheet", "href='x'"))
    elif kind == 2:
        place.text = etree.CDATA("<link name='no'/>")
    else:
        place.set("{http://www.w3.org/XML/1998/namespace}base", "file:///etc/")


def _nest(root: etree._Element, random: Random) -> None:
    inner = _element(root, random)
    for _ in range(random.choice((1, 10, 250, 300))):
        inner = etree.SubElement(inner, random.choice(("gazebo", "link", "inertial")))


def _chain(root: etree._Element, random: Random) -> None:
    """Adds a chain of links."""
    last = next((link.get("name") for link in root.iter("link") if link.get("name")), "a")
    kind = random.choice(TYPES)
    for i in range(random.choice((1, 3, 30))):
        name = f"chain{i}"
        root.append(etree.fromstring(f'<link name="{name}">{random.choice((FRAGMENTS[3], ""))}</link>'))
        joint = etree.SubElement(root, "joint", name=name, type=kind)
        _set(etree.SubElement(joint, "parent"), "link", last)
        etree.SubElement(joint, "child", link=name)
        joint.append(etree.fromstring(random.choice(FRAGMENTS[4:8])))
        last = name


def _replace_slice(data: bytes, random: Random) -> bytes:
    start = random.randint(0, len(data))
    end = min(len(data), start + random.choice((0, 1, 4, 40)))
    return data[:start] + random.randbytes(random.choice((0, 1, 4))) + data[end:]


def _insert_text(data: bytes, random: Random) -> bytes:
    start = random.randint(0, len(data))
    texts = (
        *NUMBERS,
        *NAMES,
        "<!DOCTYPE r [<!ENTITY x 'y'>]>",
        "&x;",
        "&#0;",
        "&#x202e;",
        "<!--",
        "-->",
        "]]>",
        "<?x?>",
    )
    return data[:start] + random.choice(texts).encode() + data[start:]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _double_slice(data: bytes, random: Random) -> bytes:
    start, end = sorted((random.randint(0, len(data)), random.randint(0, len(data))))
    return data[:end] + data[start:end] + data[end:]


def _recode(data: bytes, random: Random) -> bytes:
    encoding = random.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "utf-7"))
    return data.decode("utf-8", "replace").encode(encoding, "replace")


_TREE: tuple[Callable[[etree._Element, Random], None], ...] = (
    _change_value, _change_value, _change_value, _change_value, _add_attribute, _delete_attribute, _delete,
    _double, _move, _insert, _insert, _rename, _annotate, _nest, _chain,
)  # fmt: skip
_BYTES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _replace_slice, _replace_slice, _insert_text, _cut, _double_slice, _recode,
)  # fmt: skip
