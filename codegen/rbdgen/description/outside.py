"""Features of an MJCF file that change how the robot moves, but that rbdgen does not support.

A file with such a feature is refused, unless the user asks to ignore the feature. There is no message about
features that act from outside or only sometimes: geoms and contacts, limits, sensors. Actuators give a
warning, because the functions take the torques tau in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import numpy as np

from rbdgen.description.equalities import Equalities
from rbdgen.description.quoting import quoted
from rbdgen.errors import DescriptionError
from rbdgen.wording import option

_FREE, _BALL = 0, 1  # mjtJoint


def left_out(model: Any, equalities: Equalities, ignore: Collection[str], path: str) -> list[str]:
    """Warnings of the features that are left out.

    Raises DescriptionError for one that `ignore` does not name.
    """
    found = {"equality": _equalities(equalities)} if equalities.others else {}
    found |= {feature: what for feature, told in FEATURES.items() if (what := told(model))}
    refused = {feature: what for feature, what in found.items() if feature not in ignore}
    if refused:
        remedy = f"pass {option('ignore', list(refused))} to leave this out"
        what = f"it has {', and '.join(refused.values())}, which rbdgen does not support"
        raise DescriptionError(path, None, what, remedy)
    return [
        *(f"{path}: it has {what}; ignored, as asked" for what in found.values()),
        *_told(model, equalities, path),
    ]


def _told(model: Any, equalities: Equalities, path: str) -> Iterator[str]:
    """Warnings of features that do not change the motion of the robot without actuation, and are left out."""
    if equalities.idle:
        what = f"constraints that are switched off, or that no joint moves: {_listed(equalities.idle)}"
        yield f"{path}: it has {what}; ignored"
    if model.ntendon and not _tendons(model):
        tendons = _named(model.tendon, range(model.ntendon))
        yield f"{path}: it has tendons that only transmit or limit: {tendons}; ignored"
    if model.nu:
        actuators = _named(model.actuator, range(model.nu))
        yield f"{path}: it has actuators: {actuators}; left out, tau are the torques at the joints"


# ---- Each function describes what the file has of one feature; the text is empty if it has nothing.


def _equalities(equalities: Equalities) -> str:
    return f"constraints that are neither closed loops nor linear couplings: {_listed(equalities.others)}"


def _actuators(model: Any) -> str:
    fields = ("actuator_armature", "actuator_damping", "actuator_dampingpoly")
    return _those("actuators with armature or damping", model.actuator, _where(model, *fields))


def _flexes(model: Any) -> str:
    return "deformable bodies (flex)" if getattr(model, "nflex", 0) else ""


def _fluid(model: Any) -> str:
    return "a fluid around it (density or viscosity)" if model.opt.density or model.opt.viscosity else ""


def _gravity_compensation(model: Any) -> str:
    return _those("gravity compensation (gravcomp) of bodies", model.body, _where(model, "body_gravcomp"))


def _nonlinear(model: Any) -> str:
    joints = _where(model, "jnt_stiffnesspoly", "jnt_springyield")
    joints += [int(model.dof_jntid[dof]) for dof in _where(model, "dof_dampingpoly")]
    return _those("springs or dampers that are not linear, of joints", model.joint, sorted({*joints}))


def _plugins(model: Any) -> str:
    bodies = np.flatnonzero(np.asarray(model.body_plugin) >= 0).tolist()
    return _those("plugins of bodies", model.body, bodies)


def _springs(model: Any) -> str:
    joints = [j for j in _where(model, "jnt_stiffness") if model.jnt_type[j] in (_FREE, _BALL)]
    return _those("springs of ball and free joints", model.joint, joints)


def _tendons(model: Any) -> str:
    springs, dampers = ((f"tendon_{what}", f"tendon_{what}poly") for what in ("stiffness", "damping"))
    acting = _where(model, *springs, *dampers, "tendon_frictionloss", "tendon_armature")
    return _those("tendons with springs, damping, friction or armature", model.tendon, acting)


FEATURES: Final[dict[str, Callable[[Any], str]]] = {
    "actuator": _actuators,
    "flex": _flexes,
    "fluid": _fluid,
    "gravcomp": _gravity_compensation,
    "nonlinear": _nonlinear,
    "plugin": _plugins,
    "spring": _springs,
    "tendon": _tendons,
}
"""The unsupported features other than equality constraints, by name, each with its description of a model."""

IGNORABLE: Final = tuple(sorted((*FEATURES, "equality")))
"""The names of all features that `ignore` may leave out."""


def _where(model: Any, *fields: str) -> list[int]:
    """The indices at which one of these arrays is not 0; not every version of MuJoCo has all of them."""
    arrays = (np.asarray(getattr(model, name)) for name in fields if hasattr(model, name))
    return sorted({int(at[0]) for array in arrays for at in np.argwhere(array)})


def _those(what: str, element: Callable[[int], Any], indices: Sequence[int]) -> str:
    return f"{what}: {_named(element, indices)}" if indices else ""


def _named(element: Callable[[int], Any], indices: Sequence[int]) -> str:
    """A list of elements by name, or by number if they have no name."""
    return _listed([quoted(str(element(k).name), 40) if element(k).name else f"number {k}" for k in indices])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
