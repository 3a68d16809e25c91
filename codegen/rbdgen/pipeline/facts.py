"""Collects the facts of a robot that the emitted files state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple

from rbdgen.emit.names import renaming
from rbdgen.emit.package import (
    BaseFacts,
    BodyFacts,
    CapsuleFacts,
    ContactFacts,
    DistanceFacts,
    FollowerFacts,
    FrameFacts,
    JointFacts,
    LinkFacts,
    LoopFacts,
    ParameterFacts,
    ResistanceFacts,
    RobotFacts,
)
from rbdgen.model.build import Robot
from rbdgen.model.closed_loops import Loop
from rbdgen.model.distances import Capsule
from rbdgen.model.frames import Frame
from rbdgen.model.inertial_parameters import NAMES
from rbdgen.model.joints import Helical, Joint
from rbdgen.model.model import Body, Model
from rbdgen.model.parameters import parametrised_links
from rbdgen.options import Options
from rbdgen.pipeline.request import Request
from rbdgen.spatial.ops import ZERO
from rbdgen.version import __version__


def warnings_of(robot: Robot, options: Options | None = None) -> tuple[str, ...]:
    """The warnings of the description, and one if the robot's name must be changed in the emitted files."""
    named = options is not None and options.name is not None
    renamed = None if named else renaming(robot.model.name)
    return robot.warnings if renamed is None else (*robot.warnings, renamed)


def facts_of(request: Request) -> RobotFacts:
    """The facts of a robot that the emitted files state."""
    robot, model = request.robot, request.model
    body_names = {-1: "world"} | {i: body.name for i, body in enumerate(model.bodies)}
    joints = []
    for joint in robot.joints:
        limit = joint.limit
        ends = (limit.lower, limit.upper, limit.effort, limit.velocity) if limit else (None,) * 4
        joints.append(JointFacts(joint.name, joint.type.name, joint.idx_q, joint.idx_v, *ends))
    return RobotFacts(
        name=request.name,
        robot_name=model.name,
        base=robot.base,
        nq=model.sizes["nq"],
        nv=model.sizes["nv"],
        nbodies=model.sizes["nbodies"],
        joints=tuple(joints),
        manifold=model.manifold,
        followers=tuple(FollowerFacts(*astuple(follower)) for follower in robot.followers),
        bodies=tuple(map(_body_facts, model.bodies)),
        urdf_sha256=robot.description.sha256,
        version=__version__,
        gravity=(model.gravity.x, model.gravity.y, model.gravity.z),
        merged=tuple((merged.link, body_names[merged.body]) for merged in robot.merged),
        snapped=tuple((snapped.joint, snapped.change) for snapped in robot.snapped),
        warnings=tuple(text.removeprefix(f"{robot.description.path}:") for text in robot.warnings),
        own=tuple(name for name, row in request.rows.items() if row.composition is not None),
        options={**request.options.as_json(), "snap": robot.snap, **robot.dissipation.as_json()},
        resistance=tuple(
            _resistance_facts(body.joint) for body in model.bodies if body.joint.resistance.acts
        ),
        nloop=model.sizes["nloop"],
        loops=tuple(map(_loop_facts, model.loops)),
        independent_rows=robot.independent_rows,
        independent_velocities=model.independent,
        frames=tuple(map(_frame_facts, model.frames)),
        contacts=tuple(_contact_facts(model)),
        contact_sets={chosen.name: chosen.contacts for chosen in model.contact_sets},
        contact_solver=tuple(model.contact_solver),
        contact_with=model.contact_with,
        distances=_distance_facts(model),
        base_parameters=_base_facts(request),
        parameters=tuple(ParameterFacts(x.name, x.default, x.unit) for x in request.parameters),
        parameter_links=tuple(
            LinkFacts(*astuple(link)) for link in parametrised_links(robot, request.parameters)
        ),
        log_cholesky=tuple(
            k for k, x in enumerate(request.parameters) if x.log_cholesky and x.component == NAMES[0]
        ),
    )


def _base_facts(request: Request) -> BaseFacts | None:
    """The base parameters of the first requested function that has some; None if no function has any."""
    for row in request.rows.values():
        if row.basis is not None:
            basis = row.basis(request.model)
            return BaseFacts(basis.names, basis.matrix)
    return None


def _resistance_facts(joint: Joint) -> ResistanceFacts:
    own = joint.resistance
    return ResistanceFacts(
        joint.name,
        float(own.damping),
        float(own.friction),
        float(own.smoothing) if own.friction else 0.0,
        float(own.stiffness),
        float(own.reference) if own.stiffness else 0.0,
        float(own.armature),
    )


def _loop_facts(loop: Loop) -> LoopFacts:
    return LoopFacts(loop.kind, loop.rows, (_frame_facts(loop.first), _frame_facts(loop.second)))


def _contact_facts(model: Model) -> Iterator[ContactFacts]:
    first_row = 0
    for contact in model.contacts:
        yield ContactFacts(
            contact.name,
            contact.kind,
            contact.rows,
            first_row,
            model.seen_from(contact).body,
            tuple(map(_frame_facts, contact.ends)),
            tuple(tuple(map(float, x)) for x in (contact.corners or contact.touching * [ZERO])),
        )
        first_row += contact.rows


def _distance_facts(model: Model) -> DistanceFacts | None:
    own = model.distances
    if not own.pairs:
        return None
    return DistanceFacts(
        tuple(map(_capsule_facts, own.capsules)),
        own.names,
        own.left_out,
        dict(own.counts),
        dict(own.groups),
        own.segments,
        own.floor,
        own.softmin,
    )


def _capsule_facts(own: Capsule) -> CapsuleFacts:
    center, axis = (tuple(map(float, x)) for x in (own.center, own.axis))
    return CapsuleFacts(own.name, own.link, own.body, center, axis, own.half_length, own.radius, own.excess)


def _frame_facts(frame: Frame) -> FrameFacts:
    R, p = frame.placement
    rotation = tuple(tuple(map(float, row)) for row in R)
    return FrameFacts(frame.name, frame.body, rotation, tuple(map(float, p)))


def _body_facts(body: Body) -> BodyFacts:
    joint, inertia = body.joint, body.inertia
    return BodyFacts(
        name=body.name,
        parent=body.parent,
        joint=joint.name,
        kind=joint.type.name,
        axis=tuple(map(float, joint.axis)),
        rotation=tuple(tuple(map(float, row)) for row in body.placement.rotation),
        translation=tuple(map(float, body.placement.translation)),
        mass=float(inertia.mass),
        first_moment=tuple(map(float, inertia.first_moment)),
        rotational_inertia=tuple(tuple(map(float, row)) for row in inertia.rotational),
        pitch=float(joint.type.pitch) if isinstance(joint.type, Helical) else None,
        hidden=body.hidden,
    )
