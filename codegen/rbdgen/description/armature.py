"""Inertia of motors' rotors from a file of its own, beside a description that cannot say it.

TOML or JSON, an entry a joint: its armature, the inertia that the joint feels, in kg m^2 or kg, or what it
comes from, `rotor_inertia` in kg m^2 and `gear_ratio`, turns of the rotor for one of the joint. In TOML:

    shoulder = { rotor_inertia = 1e-5, gear_ratio = 100 }
    elbow = { armature = 0.02 }
    wrist = 0.01

Or an SRDF, where `mass` is the rotor's inertia, as Pinocchio has it:

    <rotor_params>
      <joint name="shoulder" mass="1e-5" gear_ratio="100"/>
    </rotor_params>
"""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from rbdgen.description.document import Document, line_of, parse, said
from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.schema import Description
from rbdgen.errors import DescriptionError

MOST_BYTES: Final = 1_000_000

_OF_SRDF: Final = {"rotor_inertia": "mass", "gear_ratio": "gear_ratio"}

FIELDS: Final = ({"armature"}, {"rotor_inertia"}, {"rotor_inertia", "gear_ratio"})


class Rotors(NamedTuple):
    """`entries`: by joint, as above; `source`: what messages call them; `shared`: whether they are of several
    robots, as an SRDF's, so that joints may be missing."""

    entries: Mapping[str, Any]
    source: str
    shared: bool = False


def read_armature(path: str | os.PathLike[str]) -> Rotors:
    """The entries of a file: an SRDF's where it is XML, TOML's where its name ends so, else JSON's.

    Raises DescriptionError.
    """
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES / 1e6:g} MB")
        if data.lstrip().startswith((b"<", b"\xef\xbb\xbf<")):
            return Rotors(_rotor_params(parse(data, name)), name, shared=True)
        text = data.decode()
        found = tomllib.loads(text) if name.endswith(".toml") else json.loads(text, object_pairs_hook=_once)
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise DescriptionError(name, None, what, "give a TOML, JSON or SRDF file of armatures") from None
    except (ValueError, RecursionError) as error:
        what = f"is no TOML or JSON ({escaped(str(error), 100)})"
        raise DescriptionError(name, None, what, "write {joint: {rotor_inertia, gear_ratio}}") from None
    if not isinstance(found, dict):
        raise DescriptionError(name, None, "has no entries", "write {joint: {rotor_inertia, gear_ratio}}")
    return Rotors(found, name)


def _rotor_params(document: Document) -> dict[str, dict[str, float]]:
    """Those of an SRDF."""
    parents = document.children(document.root, "rotor_params")
    if not parents:
        what = f"{said(document.root)} has no <rotor_params>"
        raise document.error(line_of(document.root), what, "give an SRDF that has them, or TOML or JSON")
    found: dict[str, dict[str, float]] = {}
    for joint in (joint for parent in parents for joint in document.children(parent, "joint")):
        name = document.attribute(joint, "name")
        if name in found:
            raise document.error(line_of(joint), f"joint {quoted(name)} occurs twice", "keep one")
        found[name] = {of: document.number(joint, given) for of, given in _OF_SRDF.items()}
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose names differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def with_armature(description: Description, rotors: Rotors) -> Description:
    """The description with these rotors in place of its own.

    Raises DescriptionError for a joint that does not move or is not there, but of an SRDF, and for other
    entries than above.
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
    """n^2 J, or the armature itself."""
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
