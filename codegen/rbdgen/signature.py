"""The signature of an emitted function: one truth for C prototype, cffi, Python checks, docs and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final, Literal

MANIFEST_FORMAT: Final = 3
"""Of manifest.json: raised when a folder written before can no longer be opened."""

UPDATE: Final = "update"
"""The function that makes the table of parameters, where some of the robot stayed inputs."""

Kind = Literal[
    "configuration",
    "velocity",
    "acceleration",
    "force",
    "external_forces",
    "matrix",
    "columns",
    "torque_coefficients",
    "energy_coefficients",
    "scalar",
    "inertia",
    "sines",
    "cosines",
    "parameters",
    "table",
    "values",
]
"""What an array is, whatever its name.

`configuration`: where the joints stand (q). `velocity`, `acceleration`: vectors of the tangent space (v, a).
`force`: torques and forces of the joints (tau). `external_forces`: a force and a moment for every body.
`matrix`: degrees of freedom by degrees of freedom. `columns`: something for every degree of freedom, which is
its last axis, such as a Jacobian. `torque_coefficients`: degrees of freedom by inertial parameters.
`energy_coefficients`: a number for every inertial parameter. `scalar`: one number, such as an energy.
`inertia`: the ten parameters of a body. `sines`, `cosines`: of the angles in a configuration. `parameters`:
numbers of the robot that stay inputs; `table`: what the update function makes of them. `values`: none of
these.
"""

CoordinatesKind = Literal["angle", "slide", "screw", "planar", "spherical", "floating"]
"""How a joint moves: by an angle in rad (`screw`: and slides in proportion), by a displacement in m, in a
plane (q = [x y angle]), about a point (q = [qx qy qz qw]) or freely (q = [x y z qx qy qz qw])."""


LAYOUTS: Final[Mapping[CoordinatesKind, str]] = {
    "planar": "q: x y angle; v: along the moved x and y, about z",
    "spherical": "q: quaternion x y z w; v: angular, in the moved axes",
    "floating": "q: x y z, quaternion x y z w; v: linear, angular, in the moved axes",
}
"""In words, of joints with several elements."""


@dataclass(frozen=True)
class JointCoordinates:
    """A joint's elements of q and v: q[idx_q : idx_q + nq] and v[idx_v : idx_v + nv]."""

    name: str
    kind: CoordinatesKind
    idx_q: int
    nq: int
    idx_v: int
    nv: int


@dataclass(frozen=True)
class Argument:
    """One array of a function.

    `shape` holds symbolic sizes ("nq", "nv", "nbodies", "ninertial", "nf") or integers, none for a scalar;
    `unit` is for people.
    """

    name: str
    kind: Kind
    shape: tuple[str | int, ...]
    unit: str
    meaning: str

    def sized(self, sizes: Mapping[str, int]) -> SizedArgument:
        """The argument with the sizes of one robot filled in."""
        shape = tuple(sizes[n] if isinstance(n, str) else n for n in self.shape)
        return SizedArgument(self.name, shape, self.unit, self.meaning, self.kind)


@dataclass(frozen=True)
class SizedArgument:
    """An `Argument` of one robot: its shape is numbers; matrices are row-major.

    `default`: what a call from Python takes where it leaves the argument out, None where it may not.
    """

    name: str
    shape: tuple[int, ...]
    unit: str
    meaning: str
    kind: Kind = "values"
    default: tuple[float, ...] | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives, inputs first, in the order of the C prototype."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]

    def sized(self, sizes: Mapping[str, int]) -> SizedSignature:
        """The signature with the sizes of one robot filled in (`{"nq": 7, "nv": 7, "nbodies": 7}`)."""
        return SizedSignature(
            self.name,
            tuple(argument.sized(sizes) for argument in self.inputs),
            tuple(argument.sized(sizes) for argument in self.outputs),
        )


@dataclass(frozen=True)
class SizedSignature:
    """A `Signature` of one robot."""

    name: str
    inputs: tuple[SizedArgument, ...]
    outputs: tuple[SizedArgument, ...]
