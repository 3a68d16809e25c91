"""The constants of a robot that its C header defines: limits, mass, gravity, names and origin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from rbdgen.emit.numbers import literal
from rbdgen.emit.package import ContactFacts, FrameFacts, JointFacts, RobotFacts
from rbdgen.machine import Real

UNLIMITED: Final = 1e30
"""The value that stands for a limit that a joint does not have. It fits a float, and its square a double."""


@dataclass(frozen=True)
class Constant:
    """A macro: the end of its name, and the lines of its value."""

    macro: str
    lines: tuple[str, ...]
    comment: str = ""


def constants_of(facts: RobotFacts, real: Real) -> tuple[Constant, ...]:
    """The constants of a robot, in the order of the header. A robot without bodies only has its origin."""
    origin = [
        Constant("RBDGEN_VERSION", (string(facts.version),)),
        Constant("DESCRIPTION_SHA256", (string(facts.urdf_sha256),), "of the file of the description"),
    ]
    if not facts.nbodies:
        return (origin[0],)
    mass = fsum(body.mass for body in facts.bodies)
    return (
        *origin,
        Constant("MASS", (literal(mass, real),), "in kg, of all moving bodies, as described"),
        _numbers("GRAVITY", facts.gravity, real, "in m/s^2, in world axes"),
        *_limits(facts, real),
        Constant("NJOINTS", (str(len(facts.joints)),), "moving joints, without the base"),
        _strings("NAMES_OF_JOINTS", facts.joints, "in the order of v, without the base"),
        *([_strings("NAMES_OF_FRAMES", facts.frames)] if facts.frames else []),
        *([_strings("NAMES_OF_CONTACTS", facts.contacts)] if facts.contacts else []),
    )


def string(text: str) -> str:
    """A C string literal.

    Bytes that are not printable ASCII, and those that mean something in C or in its comments, become octal.
    """
    plain = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\?*')
    return '"' + "".join(chr(x) if x in plain else f"\\{x:03o}" for x in text.encode("utf-8")) + '"'


def _limits(facts: RobotFacts, real: Real) -> Iterable[Constant]:
    """The limits of all elements of q and v; nothing if no joint has one.

    Only joints with one degree of freedom have limits.
    """
    if all(
        limit is None
        for joint in facts.joints
        for limit in (joint.lower, joint.upper, joint.velocity, joint.effort)
    ):
        return

    def spread(count: int, values: Iterable[tuple[int, float | None]], default: float) -> list[float]:
        found = [default] * count
        for index, value in values:
            found[index] = default if value is None else min(max(value, -UNLIMITED), UNLIMITED)
        return found

    single = {row.idx_v for row in facts.manifold.joints if row.nv == 1}
    joints = [joint for joint in facts.joints if joint.idx_v in single]
    lower = spread(facts.nq, ((x.idx_q, x.lower) for x in joints), -UNLIMITED)
    upper = spread(facts.nq, ((x.idx_q, x.upper) for x in joints), UNLIMITED)
    velocity = spread(facts.nv, ((x.idx_v, x.velocity) for x in joints), UNLIMITED)
    effort = spread(facts.nv, ((x.idx_v, x.effort) for x in joints), UNLIMITED)
    yield Constant("UNLIMITED", (literal(UNLIMITED, real),), "stands for a limit that a joint does not have")
    yield _numbers("LOWER_LIMITS", lower, real, "of q, in rad or m")
    yield _numbers("UPPER_LIMITS", upper, real, "of q, in rad or m")
    yield _numbers("VELOCITY_LIMITS", velocity, real, "of the absolute velocity, in rad/s or m/s")
    yield _numbers("EFFORT_LIMITS", effort, real, "of the absolute torque or force, in N m or N")


def _numbers(macro: str, values: Iterable[float], real: Real, comment: str) -> Constant:
    return initialiser(macro, [literal(float(x), real) for x in values], comment)


def _strings(
    macro: str, rows: Iterable[JointFacts | FrameFacts | ContactFacts], comment: str = ""
) -> Constant:
    return initialiser(macro, [string(row.name) for row in rows], comment)


def initialiser(macro: str, items: Sequence[str], comment: str) -> Constant:
    """The initialiser of an array, broken into lines between its items."""
    lines, line = [], "{ "
    for k, item in enumerate(items):
        text = item + (", " if k + 1 < len(items) else " }")
        if len(line) + len(text) > 96 and line.strip("{ "):
            lines.append(line.rstrip())
            line = ""
        line += text
    return Constant(macro, (*lines, line), comment)
