"""Reads the inertia of motors' rotors from a separate file, for descriptions that cannot state it.

The file is TOML, JSON or SRDF. In TOML and JSON, each entry names a joint and gives either its armature,
which is the rotor's inertia reflected to the joint (kg m^2 or kg), or `rotor_inertia` (kg m^2) and
`gear_ratio`, the number of turns of the rotor per turn of the joint. In TOML:

    shoulder = { rotor_inertia = 1e-5, gear_ratio = 100 }
    elbow = { armature = 0.02 }
    wrist = 0.01

In an SRDF, `mass` is the rotor's inertia, as in Pinocchio:

    <rotor_params>
      <joint name="shoulder" mass="1e-5" gear_ratio="100"/>
    </rotor_params>
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from rbdgen.description.document import MORE, Document, describe_element, line_of, parse, read_most
from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.schema import Description
from rbdgen.errors import DescriptionError

MOST_BYTES: Final = 1_000_000
"""The largest size of a file, in bytes: thousands of joints."""

MOST_PARTS: Final = 100
"""The largest number of parts of a dotted key in TOML; the time of Python's parser grows with its square."""

_OF_SRDF: Final = {"rotor_inertia": "mass", "gear_ratio": "gear_ratio"}

FIELDS: Final = ({"armature"}, {"rotor_inertia"}, {"rotor_inertia", "gear_ratio"})


class Rotors(NamedTuple):
    """The entries of an armature file."""

    entries: Mapping[str, Any]  # by the joint's name, in the forms that the module's docstring lists
    source: str  # the name of the file in messages
    shared: bool = False  # whether several robots share the file, as an SRDF: it may name unknown joints


def read_armature(path: str | os.PathLike[str], bounds: float = 1.0) -> Rotors:
    """Reads a file as SRDF if it is XML, as TOML if its name ends in .toml, and as JSON otherwise.

    `bounds` is a factor on the largest size. Raises DescriptionError for a file that cannot be read, is too
    large or has no entries.
    """
    name, most = os.fspath(path), int(bounds * MOST_BYTES)
    try:
        with Path(name).open("rb") as file:
            data = read_most(file, most)
        if len(data) > most:
            what = f"is larger than the {most / 1e6:g} MB that rotors may take"
            raise DescriptionError(name, None, what, f"leave out what is not needed, {MORE}")
        if data.lstrip().startswith((b"<", b"\xef\xbb\xbf<")):
            return Rotors(_rotor_params(parse(data, name)), name, shared=True)
        text = data.decode()
        if name.endswith(".toml") and (part := longest_key(text)) > MOST_PARTS:
            raise ValueError(f"a key has {part} parts")
        found = tomllib.loads(text) if name.endswith(".toml") else json.loads(text, object_pairs_hook=_once)
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise DescriptionError(name, None, what, "give a TOML, JSON or SRDF file of armatures") from None
    except (ValueError, RecursionError) as error:
        what = f"is neither TOML nor JSON ({escaped(str(error), 100)})"
        raise DescriptionError(name, None, what, "write {joint: {rotor_inertia, gear_ratio}}") from None
    if not isinstance(found, dict):
        raise DescriptionError(name, None, "has no entries", "write {joint: {rotor_inertia, gear_ratio}}")
    return Rotors(found, name)


def _rotor_params(document: Document) -> dict[str, dict[str, float]]:
    """The entries of all <rotor_params> elements of an SRDF, by joint."""
    parents = document.children(document.root, "rotor_params")
    if not parents:
        what = f"{describe_element(document.root)} has no <rotor_params>"
        raise document.error(line_of(document.root), what, "give an SRDF that has them, or TOML or JSON")
    found: dict[str, dict[str, float]] = {}
    for joint in (joint for parent in parents for joint in document.children(parent, "joint")):
        name = document.attribute(joint, "name")
        if name in found:
            raise document.error(line_of(joint), f"joint {quoted(name)} occurs twice", "keep one")
        found[name] = {of: document.number(joint, given) for of, given in _OF_SRDF.items()}
    return found


def longest_key(text: str) -> int:
    """An upper bound on the number of parts of a dotted key; quoted texts are counted like keys."""
    return max(part.count(".") + 1 for part in re.split(r"[\n=,\[\]{}#]", text))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Builds a JSON object, and raises ValueError if a name occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def with_armature(description: Description, rotors: Rotors) -> Description:
    """The description in which these rotors replace the rotors of the description itself.

    Raises DescriptionError for an entry of another form than the module's docstring lists, and for a joint
    that is unknown or fixed; a file that several robots share gives a warning for such a joint instead.
    """
    moving = {joint.name for joint in description.joints if joint.type != "fixed"}
    missing = [str(name) for name in rotors.entries if name not in moving]
    if missing and not rotors.shared:
        what = f"joint {quoted(missing[0])} is no moving joint of {quoted(description.name)}"
        raise DescriptionError(rotors.source, None, what, "see rbdgen inspect for their names")
    found = {name: _armature(name, entry, rotors.source) for name, entry in rotors.entries.items()}
    joints = (replace(joint, armature=found.get(joint.name, joint.armature)) for joint in description.joints)
    warnings = (
        f"{rotors.source}: joint {quoted(name)} is no moving joint of {quoted(description.name)}; ignored"
        for name in missing
    )
    return replace(description, joints=tuple(joints), warnings=(*description.warnings, *warnings))


def _armature(name: str, entry: Any, source: str) -> float:
    """The armature of one entry: n^2 J of a rotor, or the armature as given."""
    given = entry if isinstance(entry, Mapping) else {"armature": entry}
    if set(given) not in FIELDS:
        what = f"joint {quoted(name)} has {', '.join(escaped(str(key)) for key in given) or 'nothing'}"
        raise DescriptionError(source, None, what, "write armature, or rotor_inertia and gear_ratio")
    for key, value in given.items():
        sound = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not sound or (value < 0 and key != "gear_ratio"):
            what = f"{key} of joint {quoted(name)} is {escaped(repr(value), 40)}"
            raise DescriptionError(source, None, what, "write a number of 0 or more")
    if "armature" in given:
        return float(given["armature"])
    return float(given["rotor_inertia"]) * float(given.get("gear_ratio", 1)) ** 2
