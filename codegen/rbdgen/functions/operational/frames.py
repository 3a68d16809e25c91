"""The dynamics of frames in operational space.

With the Jacobian J of all chosen frames, M a + h = J^T F and A = J a + drift give

    Lambda A + mu = F,  Lambda = (J M^-1 J^T)^-1,  mu = Lambda (J M^-1 h - drift),

where A are the accelerations of the frames and F are forces and moments on them. Khatib, A Unified Approach
for Motion and Force Control of Robot Manipulators: The Operational Space Formulation, 1987, eq. 18-22, whose
mu and p are both in this mu.

With M = L^T D L, the rows of y = J L^-1 give J M^-1 J^T = y D^-1 y^T (Featherstone 2008, section 8.5), so
that M is not inverted. A compliance on the diagonal keeps Lambda finite where J loses rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rbdgen.functions.contacts.composite import inertia, multipliers
from rbdgen.functions.contacts.inverse_dynamics import NLE
from rbdgen.functions.contacts.multipliers import Multipliers, product
from rbdgen.functions.form import Outputs, flat
from rbdgen.functions.inertia_matrix.inverse import inverse
from rbdgen.functions.kinematics.columns import (
    Convention,
    Path,
    columns,
    columns_from_root,
    columns_from_tip,
    jacobian,
)
from rbdgen.functions.kinematics.motion import drift
from rbdgen.functions.resistance import model_of
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.spatial.ldl import LDL, ldl
from rbdgen.spatial.rows import Rows
from rbdgen.spatial.scalar import Scalar, add, sub
from rbdgen.sweeps.inputs import State


def paths_of(robot: Model | ReducedModel, x: State, convention: Convention) -> list[Path]:
    """The columns of all frames: from the world, or on a `ReducedModel` from the cheaper end."""
    if isinstance(robot, Model):
        return columns(robot, x.q, convention, x.naming)
    if convention == "local":
        return columns_from_tip(robot, x.q, x.naming)
    return columns_from_root(robot, x.q, convention, x.naming)


def jacobian_rows(robot: Model | ReducedModel, paths: list[Path]) -> Rows:
    """J of all frames over the independent degrees of freedom, six rows for each."""
    model = model_of(robot)
    elements = [value for path in paths for value in jacobian(path, model.nv)]
    rows = (elements[k : k + model.nv] for k in range(0, len(elements), model.nv))
    return list(map(model.coupling.folded, rows))


@dataclass(frozen=True)
class Operational:
    """All chosen frames at a state. On a `Model` the textbook's algorithms are used, and on a `ReducedModel`
    those on mass moments.
    """

    robot: Model | ReducedModel
    x: State
    convention: Convention

    @cached_property
    def paths(self) -> list[Path]:
        return paths_of(self.robot, self.x, self.convention)

    @cached_property
    def factor(self) -> LDL:
        """L and D of M."""
        return inertia(self.robot, self.x)

    @cached_property
    def system(self) -> Multipliers:
        return multipliers(self.factor, jacobian_rows(self.robot, self.paths))

    @property
    def mobility(self) -> Rows:
        """J M^-1 J^T."""
        return self.system.G(self.x.naming)

    @cached_property
    def compliant(self) -> LDL:
        """The factors of J M^-1 J^T with the compliance on its diagonal."""
        G, (soft,) = self.mobility, self.x.arrays["mu"]
        for k, row in enumerate(G):
            row[k] = add(row[k], soft)
        return ldl(G, naming=self.x.naming)

    @property
    def falling(self) -> list[Scalar]:
        """J M^-1 h - drift: minus the accelerations of the frames without torques."""
        h = NLE.trace(NLE.forms[1 if isinstance(self.robot, ReducedModel) else 0], self.robot, self.x)[0]
        rates = dict(enumerate(self.factor.scale(self.factor.back_substitute(list(h)))))
        own: list[Scalar] = []
        for path in self.paths:
            motion = drift(path, self.x.v, self.convention, self.x.naming)
            own += [*motion.linear, *motion.angular]
        return [sub(product(row, rates), d) for row, d in zip(self.system.y, own, strict=True)]


def frame_mobility(robot: Model | ReducedModel, x: State, convention: Convention) -> Outputs:
    """J M^-1 J^T."""
    return [flat(Operational(robot, x, convention).mobility)]


def frame_inertia(robot: Model | ReducedModel, x: State, convention: Convention) -> Outputs:
    """Lambda."""
    return [flat(inverse(Operational(robot, x, convention).compliant))]


def frame_bias(robot: Model | ReducedModel, x: State, convention: Convention) -> Outputs:
    """mu."""
    frames = Operational(robot, x, convention)
    return [frames.compliant.solve(frames.falling)]
