"""A robot as the manifest of a generated folder describes it, for libraries on all kinds of machines."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .configuration import Manifold
from .parameters import Parameters


class Described:
    """The sizes and names of a robot.

    Attributes:
        name: the name of the folder.
        nq, nv, nbodies: the lengths of q and of v, and the number of moving bodies.
        manifest: the contents of the folder's manifest.
        joint_names: the moving joints in order, without the floating base.
        idx_q, idx_v: the indices in q and in v of the first element of each of these joints.
        frames, contacts: the names of frames and of contacts, in the order of the functions.
        manifold: the configuration manifold, with the meaning of every element of q.
        parameters: the parameters that stayed inputs.
    """

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        joints = manifest["joints"]
        self.manifest: Mapping[str, Any] = MappingProxyType(dict(manifest))
        self.name: str = manifest["name"]
        self.nq: int = manifest["nq"]
        self.nv: int = manifest["nv"]
        self.nbodies: int = manifest["nbodies"]
        self.joint_names: tuple[str, ...] = tuple(joint["name"] for joint in joints)
        self.idx_q: tuple[int, ...] = tuple(joint["idx_q"] for joint in joints)
        self.idx_v: tuple[int, ...] = tuple(joint["idx_v"] for joint in joints)
        self.frames: tuple[str, ...] = tuple(frame["name"] for frame in manifest.get("frames", ()))
        self.contacts: tuple[str, ...] = tuple(contact["name"] for contact in manifest.get("contacts", ()))
        self.manifold = Manifold.of(manifest)
        self.parameters = Parameters.of(manifest)
