"""Parameters that stay inputs: those that a robot has, those that were asked for, and the model over symbols.

    mass:LINK  com:LINK  inertia:LINK   as in URDF: about the centre of mass, in the link's axes
    ten:LINK                            instead of these: m, m c and the inertia about the link's origin
    logchol:LINK                        instead of these: log-Cholesky parameters, all ten together
    xyz:JOINT                           the position of the joint in its parent link
    damping:JOINT  friction:JOINT  stiffness:JOINT  armature:JOINT
    gravity                             in world axes

Every component has a name, such as `com:tool.x`. A name without a component, such as `com:tool`, asks for all
components that are not 0 (`ten`: for all ten). Patterns such as `mass:*` ask for all that match, except links
without mass. Links that fixed joints carry have the same parameters as others.

Functions and graphs have no exponential: where `logchol:LINK` is asked for, they have `ten:LINK`, and
libraries compute these ten numbers before they call C.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

import numpy as np

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Description, Link
from rbdgen.description.soundness import PHYSICAL_TOLERANCE
from rbdgen.errors import OptionError
from rbdgen.model.build import Robot, centroidal, rebuilt
from rbdgen.model.inertia import Inertia
from rbdgen.model.inertial_parameters import ENTRIES, NAMES, UNITS, inertia_of, parameters_of
from rbdgen.model.joints import Resistance
from rbdgen.model.model import WORLD, Model
from rbdgen.runtime.log_cholesky import LOG_CHOLESKY, log_cholesky_of
from rbdgen.runtime.log_cholesky import UNITS as UNITS_OF_LOGARITHMS
from rbdgen.spatial.ops import Vector, mirrored
from rbdgen.spatial.scalar import Scalar
from rbdgen.wording import option

AXES: Final = "xyz"

OF_INERTIA: Final = tuple(AXES[i] + AXES[j] for i, j in ENTRIES)

OF_LINKS: Final = ("mass", "com", "inertia", "ten")

LOGARITHMS: Final = "logchol"
"""The kind of log-Cholesky parameters."""

OF_MASS: Final = ("mass", "ten", LOGARITHMS)
"""The kinds of parameters that have the mass of a link."""

OF_JOINTS: Final = {
    "damping": "N m s/rad, N s/m",
    "friction": "N m, N",
    "stiffness": "N m/rad, N/m",
    "armature": "kg m^2, kg",
}
"""The units of the terms of joint resistance."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a robot: one number that can be an input of its functions."""

    group: str
    """The name of the parameter without its component."""
    component: str
    """The component; "" if the group has only one."""
    default: float
    unit: str
    linear: Parameter | None = None
    """The parameter of `ten:LINK` that functions have in place of a log-Cholesky parameter."""
    log_cholesky: bool = False
    """Whether this parameter stands in functions for a log-Cholesky parameter that was asked for."""

    @property
    def name(self) -> str:
        return f"{self.group}.{self.component}" if self.component else self.group

    @property
    def kind(self) -> str:
        return self.group.partition(":")[0]


def all_parameters(robot: Robot) -> list[Parameter]:
    """All parameters of the robot, links first, in the order of the description."""
    return [
        *_of_links(robot),
        *_of_joints(robot),
        *_components("gravity", AXES, robot.model.gravity, "m/s^2"),
    ]


def _of_links(robot: Robot) -> Iterator[Parameter]:
    moving = {attachment.link for attachment in robot.attachments if attachment.body != WORLD}
    for link in robot.description.links:
        if link.name not in moving or link.hidden:
            continue
        mass, center, about_center = centroidal(link, robot.snap)
        yield Parameter(f"mass:{link.name}", "", float(mass), "kg")
        yield from _components(f"com:{link.name}", AXES, center, "m")
        entries = [about_center[i][j] for i, j in ENTRIES]
        yield from _components(f"inertia:{link.name}", OF_INERTIA, entries, "kg m^2")
        ten = parameters_of(Inertia.from_center_of_mass(mass, center, about_center))
        group = f"ten:{link.name}"
        linear = [Parameter(group, *row) for row in zip(NAMES, map(float, ten), UNITS, strict=True)]
        yield from linear
        yield from _logarithms(link.name, linear)


def _logarithms(link: str, linear: Sequence[Parameter]) -> Iterator[Parameter]:
    """The log-Cholesky parameters of a link; none if its inertia is not that of a body with a volume."""
    ten = [parameter.default for parameter in linear]
    if ten[0] <= 0:
        return
    inertia = inertia_of(ten)
    second = Inertia(inertia.mass, inertia.first_moment, inertia.about_center).second_moment
    moments = np.linalg.eigvalsh([[float(x) for x in row] for row in second])
    if moments[0] > PHYSICAL_TOLERANCE * moments.sum():
        values = log_cholesky_of(ten, math.sqrt, math.log)
        rows = zip(LOG_CHOLESKY, values, UNITS_OF_LOGARITHMS, linear, strict=True)
        for name, value, unit, own in rows:
            yield Parameter(f"{LOGARITHMS}:{link}", name, value, unit, replace(own, log_cholesky=True))


def _of_joints(robot: Robot) -> Iterator[Parameter]:
    resisting = {body.joint.name: body.joint for body in robot.model.bodies if body.joint.type.resists}
    used = {
        "damping": robot.dissipation.damping,
        "friction": robot.dissipation.friction is not None,
        "stiffness": True,
        "armature": True,
    }
    for joint in robot.description.joints:
        yield from _components(f"xyz:{joint.name}", AXES, joint.origin.xyz, "m")
        for kind, unit in OF_JOINTS.items():
            own = resisting.get(joint.name)
            if own is None or not used[kind] or (kind == "stiffness" and own.nv > 1):
                continue  # springs act on joints of one degree of freedom
            yield Parameter(f"{kind}:{joint.name}", "", float(getattr(own.resistance, kind)), unit)


def _components(
    group: str, names: Sequence[str], values: Sequence[float] | Vector, unit: str
) -> Iterator[Parameter]:
    for name, value in zip(names, values, strict=True):
        yield Parameter(group, name, float(value), unit)


def asked_parameters(robot: Robot, asked: Sequence[str]) -> tuple[Parameter, ...]:
    """The parameters that names and patterns ask for, each once and in this order, as functions have them.

    Raises OptionError for an unknown name, with the nearest ones, and for two that determine the same
    numbers.
    """
    known = all_parameters(robot) if asked else []
    found: dict[str, Parameter] = {}
    for pattern in asked:
        found |= {parameter.name: parameter for parameter in _matching(robot, known, pattern)}
    taken = {parameter.group for parameter in found.values()}
    for group in sorted(taken):
        kind, _, link = group.partition(":")
        other = next(
            (f"{x}:{link}" for x in (*OF_LINKS, LOGARITHMS) if f"{x}:{link}" in taken - {group}), None
        )
        if kind in ("ten", LOGARITHMS) and other is not None:
            what = f"{option('params', [group, other])}: both determine the same numbers"
            raise OptionError(f"{what}; ask for one of them")
    return tuple(parameter.linear or parameter for parameter in found.values())


def _matching(robot: Robot, known: Sequence[Parameter], pattern: str) -> list[Parameter]:
    """The nonzero components of the groups that match, or else the components that match."""
    single = not any(c in pattern for c in "*?[")
    groups = [parameter for parameter in known if fnmatchcase(parameter.group, pattern)]
    alone = single and any(not parameter.component for parameter in groups)
    some = {x.group for x in groups if x.default != 0 or single}
    found = [
        x for x in groups if x.default != 0 or (x.kind in ("ten", LOGARITHMS) and x.group in some) or alone
    ]
    found = found or [x for x in known if x.component and fnmatchcase(x.name, pattern)]
    if parts := [x.group for x in found if x.linear is not None and x.group not in some]:
        raise OptionError(
            f"{option('params', [pattern])}: log-Cholesky parameters are inputs all ten together; ask for "
            f"{quoted(parts[0])}"
        )
    if found:
        return found
    if groups:
        raise OptionError(
            f"{option('params', [pattern])}: all of its components are 0 and stay constants; name one, "
            f"such as {quoted(groups[0].name)}"
        )
    raise OptionError(f"{option('params', [pattern])}: {_unknown(robot, known, pattern)}")


def _unknown(robot: Robot, known: Sequence[Parameter], pattern: str) -> str:
    """The reason why there is no parameter of this name, with the nearest names."""
    kind, _, name = pattern.partition(":")
    still = {attachment.link for attachment in robot.attachments if attachment.body == WORLD}
    if kind in (*OF_LINKS, LOGARITHMS) and name in still:
        return f"link {quoted(name)} does not move, so nothing depends on it; leave it out"
    if kind == LOGARITHMS and any(parameter.group == f"ten:{name}" for parameter in known):
        return (
            f"the inertia of link {quoted(name)} is not that of a body that extends in all directions, so it "
            f"has no log-Cholesky parameters; ask for {quoted(f'ten:{name}')}"
        )
    if kind in ("damping", "friction") and getattr(robot.dissipation, kind) in (False, None):
        given = option("damping", True) if kind == "damping" else option("friction", "exact")
        return f"{kind} is left out of the functions; pass {given} as well"
    if kind == "rpy":
        return "directions cannot be inputs, lengths can: xyz:JOINT"
    names = dict.fromkeys(x for parameter in known for x in (parameter.group, parameter.name))
    owner, _, what = pattern.rpartition(".")
    turned = [x for x in (f"{what}:{owner}",) if x in names]  # the pattern is OWNER.KIND
    near = " or ".join(map(quoted, turned or get_close_matches(pattern, names, n=3)))
    kinds = ", ".join(dict.fromkeys(parameter.kind for parameter in known))
    return f"no such parameter; did you mean {near}?" if near else f"no such parameter; there are {kinds}"


@dataclass(frozen=True)
class ParametrisedLink:
    """A link with inertial parameters."""

    link: str
    about_center: bool
    """Whether its ten numbers are those about the centre of mass, rather than the linear ones."""
    values: tuple[float, ...]
    """The ten numbers of the link."""
    places: tuple[int | None, ...]
    """The index of each of them in p, or None if it is constant."""


def parametrised_links(robot: Robot, chosen: Sequence[Parameter]) -> list[ParametrisedLink]:
    """The links with a chosen inertial parameter, in the order of the description."""
    place: dict[str, int | None] = {parameter.name: k for k, parameter in enumerate(chosen)}
    groups = {parameter.group for parameter in chosen}
    found = []
    known = [x for x in all_parameters(robot) if x.kind in OF_LINKS] if groups else []
    for link in robot.description.links:
        kinds = [kind for kind in OF_LINKS if f"{kind}:{link.name}" in groups]
        if kinds:
            wanted = {f"{kind}:{link.name}" for kind in (["ten"] if "ten" in kinds else OF_LINKS[:3])}
            ten = [x for x in known if x.group in wanted]
            values, places = [x.default for x in ten], [place.get(x.name) for x in ten]
            found.append(ParametrisedLink(link.name, "ten" not in kinds, tuple(values), tuple(places)))
    return found


def symbolic_model(robot: Robot, chosen: Sequence[Parameter], symbols: Sequence[Scalar]) -> Model:
    """The robot's model with a symbol in place of every chosen parameter."""
    value = dict(zip((parameter.name for parameter in chosen), symbols, strict=True))
    links = {x.group.partition(":")[2] for x in chosen if x.kind in OF_LINKS}
    inertias = {
        link.name: _inertia(link, robot.snap, value) for link in robot.description.links if link.name in links
    }
    model = rebuilt(robot, _placed(robot.description, value), inertias)
    bodies = tuple(
        replace(
            body,
            joint=replace(body.joint, resistance=_resisting(body.joint.name, body.joint.resistance, value)),
        )
        for body in model.bodies
    )
    gravity = Vector(*_chosen("gravity", AXES, list(model.gravity), value))
    return replace(model, bodies=bodies, gravity=gravity)


def _chosen(
    group: str, names: Sequence[str], given: Sequence[Scalar], value: Mapping[str, Scalar]
) -> list[Scalar]:
    """The components, with symbols in place of those that are parameters."""
    return [value.get(f"{group}.{name}", x) for name, x in zip(names, given, strict=True)]


def _inertia(link: Link, snap: float, value: Mapping[str, Scalar]) -> Inertia:
    """A link's ten parameters over symbols, in its own frame."""
    mass, center, about = centroidal(link, snap)
    ten = parameters_of(Inertia.from_center_of_mass(mass, center, about))
    linear = _chosen(f"ten:{link.name}", NAMES, ten, value)
    if linear != ten:
        return inertia_of(linear)
    entries = [about[i][j] for i, j in ENTRIES]
    xx, xy, yy, xz, yz, zz = _chosen(f"inertia:{link.name}", OF_INERTIA, entries, value)
    return Inertia.from_center_of_mass(
        value.get(f"mass:{link.name}", mass),
        Vector(*_chosen(f"com:{link.name}", AXES, list(center), value)),
        mirrored([[xx, xy, xz], [0, yy, yz], [0, 0, zz]]),
    )


def _placed(description: Description, value: Mapping[str, Scalar]) -> Description:
    """The description with symbols in the positions of joints."""
    joints = []
    for joint in description.joints:
        x, y, z = _chosen(f"xyz:{joint.name}", AXES, joint.origin.xyz, value)
        joints.append(replace(joint, origin=replace(joint.origin, xyz=(x, y, z))))
    return replace(description, joints=tuple(joints))


def _resisting(joint: str, own: Resistance, value: Mapping[str, Scalar]) -> Resistance:
    """The resistance of a joint, with symbols in place of parameters."""
    symbols = {kind: value[f"{kind}:{joint}"] for kind in OF_JOINTS if f"{kind}:{joint}" in value}
    return replace(own, **symbols)
