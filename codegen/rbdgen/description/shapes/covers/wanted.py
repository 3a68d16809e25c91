"""The covers of shapes that a user may ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from rbdgen.description.quoting import told
from rbdgen.errors import OptionError
from rbdgen.wording import choose, option

MOST: Final = 32
"""The largest number of capsules for one shape."""

FORMS: Final = {"mesh": "capsules:K", "cylinder": "short or capsule", "box": "capsules:K"}
"""The kinds of shapes that have a choice of covers, and what to choose from."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The covers of shapes that are neither spheres nor capsules."""

    mesh: int | None = None
    """The number of capsules for a mesh; None if meshes are refused."""
    box: int = 1
    """The number of capsules for a box, side by side."""
    short: bool = True
    """Whether the segment of a cylinder's capsule ends before the cylinder does, which gives the least
    excess; otherwise it is as long as the cylinder, which gives no excess at the side."""


def wanted_of(given: object) -> Wanted:
    """The covers that the option `cover` asks for, such as {"mesh": "capsules:3", "cylinder": "capsule"}.

    Raises OptionError for anything else.
    """
    if given is None:
        return Wanted()
    if not isinstance(given, Mapping):
        raise OptionError(f"cover {told(given)} is not a dict; give {{'mesh': 'capsules:3'}}")
    wanted = Wanted()
    for kind, form in given.items():
        if kind not in FORMS:
            raise OptionError(f"cover of {told(kind)} cannot be chosen; {choose(kind, FORMS)}")
        if kind == "cylinder":
            if form not in ("short", "capsule"):
                raise _refused(kind, form)
            wanted = replace(wanted, short=form == "short")
        else:
            count = _count(kind, form)
            wanted = replace(wanted, mesh=count) if kind == "mesh" else replace(wanted, box=count)
    return wanted


def _count(kind: str, form: object) -> int:
    """The number of capsules in the form "capsules:K"."""
    found = re.fullmatch(r"capsules:([0-9]{1,3})", form, re.ASCII) if isinstance(form, str) else None
    if found is None or not 1 <= int(found[1]) <= MOST:
        raise _refused(kind, form)
    return int(found[1])


def _refused(kind: str, form: object) -> OptionError:
    most = "" if kind == "cylinder" else f", K from 1 to {MOST}"
    return OptionError(
        f"{option('cover', {kind: form})}: not a cover of a {kind}; choose {FORMS[kind]}{most}"
    )
