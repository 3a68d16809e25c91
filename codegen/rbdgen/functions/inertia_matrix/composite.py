"""The joint-space inertia matrix: the composite-rigid-body algorithm (Featherstone 2008, table 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.model.joints import Coordinate
from rbdgen.model.model import WORLD, Model
from rbdgen.spatial.scalar import Naming, Scalar, add, unnamed


def crba(model: Model, q: Sequence[Coordinate], naming: Naming = unnamed) -> list[list[Scalar]]:
    """M(q), nv x nv, full symmetric. Entries between degrees of freedom on different branches are exactly 0.

    Units are kg m^2 between rotations, kg between translations, and kg m between the two.
    """
    transforms = [body.transform(q_i) for body, q_i in zip(model.bodies, q, strict=True)]
    composite = [body.inertia for body in model.bodies]
    M: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]
    for i in reversed(range(model.nbodies)):
        body = model.bodies[i]
        if body.parent != WORLD:
            composite[body.parent] = (composite[body.parent] + composite[i].transformed(transforms[i])).named(
                naming, f"Ic[{body.parent}]"
            )
        for k, (S, rotor) in enumerate(
            zip(body.joint.motion_subspace, body.joint.armature, strict=True), body.joint.idx_v
        ):
            force = composite[i].apply(S)
            j = i
            while j != WORLD:
                row = model.bodies[j].joint
                for r, S_r in enumerate(row.motion_subspace, row.idx_v):
                    if j != i or r <= k:
                        M[r][k] = M[k][r] = naming(f"M[{r},{k}]", S_r.dot(force))
                if model.bodies[j].parent != WORLD:
                    force = transforms[j].force_to_parent(force)
                j = model.bodies[j].parent
            M[k][k] = add(M[k][k], rotor)
    return M
