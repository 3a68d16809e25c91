"""Checks that apply to every description, whatever its format."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rbdgen.description.quoting import quoted
from rbdgen.description.schema import Link, Vector3

PHYSICAL_TOLERANCE = 1e-12
"""The tolerance for negative eigenvalues of the pseudo-inertia, which rounding causes, relative to its trace.
"""

FAR = 30.0
"""A radius of gyration, in m. A larger one suggests an inertia in other units, such as kg mm^2."""


def unit(x: float, y: float, z: float) -> Vector3:
    """The vector scaled to unit length, with 0.0 in place of -0.0.

    It is divided by its largest element first, so that its length cannot overflow.
    """
    scale = max(abs(x), abs(y), abs(z))
    x, y, z = x / scale, y / scale, z / scale
    length = math.hypot(x, y, z)
    return x / length + 0.0, y / length + 0.0, z / length + 0.0


def inertia_warnings(path: str, links: Sequence[Link]) -> list[str]:
    """Warnings of links whose inertia is not physical, or so large that it seems to be in other units.

    The second moment of mass about the centre of mass, Sigma = tr(J)/2 1 - J, has no negative eigenvalue.
    This is the triangle inequality of the principal moments (Wensing, Kim, Slotine, RA-L 2018). If the mass
    is zero, so is J.
    """
    bodies = [(link.name, link.inertial) for link in links if link.inertial is not None]
    if not bodies:
        return []
    J = np.array([[[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]] for _, i in bodies])
    # Scaled by the largest entry, so that sums of finite numbers do not overflow; the floor avoids 0 / 0.
    scale = np.maximum(np.abs(J).max(axis=(1, 2)), 1e-100)
    J /= scale[:, None, None]
    half_trace = np.trace(J, axis1=1, axis2=2) / 2.0
    least = np.linalg.eigvalsh(half_trace[:, None, None] * np.eye(3) - J)[:, 0]
    warnings = []
    for (name, body), moment, size, largest in zip(
        bodies, least.tolist(), half_trace.tolist(), scale.tolist(), strict=True
    ):
        radius = math.sqrt(max(size, 0.0)) * math.sqrt(largest) / math.sqrt(body.mass or math.inf)
        what = ""
        if moment < -PHYSICAL_TOLERANCE * (abs(size) + body.mass / largest):
            what = (
                f"inertia of link {quoted(name)} violates the triangle inequality: its largest principal "
                f"moment exceeds the sum of the others by {-2 * moment * largest:.3g} kg m^2; used as it "
                "stands"
            )
        elif body.mass == 0.0 and size != 0.0:
            what = f"link {quoted(name)} has rotational inertia but no mass; used as it stands"
        elif radius > FAR:
            what = (
                f"link {quoted(name)} of {body.mass:.3g} kg has a radius of gyration of {radius:.3g} m; used "
                "as it stands: check the units of its inertia, kg m^2"
            )
        if what:
            warnings.append(f"{path}:{body.line}: {what}")
    return warnings


def missing_inertial_warnings(path: str, missing: Sequence[Link]) -> list[str]:
    """One warning for all links that look like bodies but have no mass."""
    if not missing:
        return []
    named = ", ".join(quoted(link.name, 40) for link in missing[:8])
    more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
    what = f"no <inertial> in {'link' if len(missing) == 1 else 'links'} {named}{more}; taken as massless"
    return [f"{path}:{missing[0].line}: {what}"]
