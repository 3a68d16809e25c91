"""Forward dynamics and Minv with followers by articulated bodies, on trees of many shapes; their costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from support.forms import FunctionForm, relative_error, run_on_floats
from support.mimic import Projection
from support.robots import BASES, BUNDLED, PATHS, robot
from support.synthetic import urdf

from rbdgen.description.schema import Description, Mimic
from rbdgen.description.urdf import parse_urdf, read_urdf
from rbdgen.functions.articulated.embedded import carrying_bodies
from rbdgen.functions.table import TABLE, lookup
from rbdgen.model.build import Base, build_robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.selection.axes import operations
from rbdgen.selection.choose import choose
from rbdgen.selection.limits import Limits

Followers = Mapping[int, tuple[int, float]]

SHAPES: dict[str, tuple[Sequence[int], Followers, Base, dict[int, str]]] = {
    "two fingers": ([-1, 0, 1, 1], {3: (2, -1.0)}, "fixed", {2: "link_1"}),
    "three joints a finger": (
        [-1, 0, 1, 2, 3, 1, 5, 6],
        {3: (2, 1.1), 4: (3, 0.7), 5: (2, -1.0), 6: (5, 1.2), 7: (6, 0.9)},
        "floating",
        {2: "link_1"},
    ),
    "a follower below": ([-1, 0, 1, 2, 2], {3: (1, 0.5)}, "fixed", {1: "link_1"}),
    "a follower above": ([-1, 0, 1], {0: (2, 0.5)}, "fixed", {2: "link_0"}),
    "across": ([-1, 0, 1, 2, 0, 4, 5], {5: (2, -0.8)}, "fixed", {2: "link_0"}),
    "across the world": ([-1, -1, 1], {1: (0, 1.0)}, "fixed", {0: "world"}),
    "two across the world": ([-1, 0, -1, 2], {2: (0, 1.0), 3: (1, -0.5)}, "fixed", {0: "world", 1: "world"}),
    "ways that cross": (
        [-1, 0, 1, 2, 0, 4, 5],
        {4: (1, 0.6), 6: (3, -1.4)},
        "floating",
        {1: "link_0", 3: "link_0"},
    ),
    "a way in another": (
        [-1, 0, 1, 2, 3, 0, 5],
        {5: (1, 0.6), 4: (2, 0.4)},
        "fixed",
        {1: "link_0", 2: "link_2"},
    ),
    "a hand": (
        [-1, 0, 1, 2, 1, 4, 1, 6, 1, 8],
        {3: (2, 1.06), 5: (4, 1.06), 7: (6, 1.06), 9: (8, 1.06)},
        "fixed",
        {2: "link_2", 4: "link_4", 6: "link_6", 8: "link_8"},
    ),
}
"""The parents of the links; the leader and multiplier of each follower; the base; and the link that carries
all joints of each leader."""

ROOT = """<link name="root"><inertial><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>"""


def with_followers(description: Description, followers: Mapping[str, tuple[str, float]]) -> Description:
    """Makes some joints follow others, with these multipliers."""
    joints = [
        replace(joint, mimic=Mimic(*followers[joint.name], 0.2)) if joint.name in followers else joint
        for joint in description.joints
    ]
    return replace(description, joints=tuple(joints))


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    """The references are G^T M G and G^T nle of the robot with all joints independent, by NumPy."""
    parents, followers, base, carriers = SHAPES[name]
    plain = parse_urdf(urdf(parents, seed=3).replace('<link name="root"/>', ROOT))
    names = [joint.name for joint in plain.joints]
    named = {names[k]: (names[leader], multiple) for k, (leader, multiple) in followers.items()}
    projection = Projection.of(with_followers(plain, named), base)
    model = projection.coupled.model
    links = [*(body.name for body in model.bodies), "world"]  # WORLD is -1
    six = 6 if base == "floating" else 0
    carrying = dict(
        zip(projection.coupled.joint_names, carrying_bodies(model, model.coupling.groups)[six:], strict=True)
    )
    assert {k: links[carrying[names[k]]] for k in carriers} == carriers
    aba = lookup("aba_fext")
    inputs = model.manifold.random_inputs(
        aba.signature.sized(model.sizes).inputs, np.random.default_rng(1), (5,)
    )
    inputs["fext"] = inputs["fext"].reshape(5, -1)
    found = run_on_floats(FunctionForm(aba, aba.form("embedded")), model, inputs)[0]
    (M,) = projection.outputs(TABLE["crba"], inputs)
    (expected,) = projection.outputs(aba, inputs)
    assert relative_error(found, expected) < 1e-13 * np.linalg.cond(M).max()
    minv = lookup("minv")
    found = run_on_floats(FunctionForm(minv, minv.form("embedded")), model, inputs)[0]
    assert relative_error(found, np.linalg.inv(M)) < 1e-13 * np.linalg.cond(M).max()


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", [name for name in BUNDLED if name != "humanoid30"])
def test_without_followers_it_is_the_articulated_body_algorithm(name: str, base: Base) -> None:
    """The operations are equal, with or without rotors; those of the inverse differ by rows of a base."""
    aba, minv = lookup("aba"), lookup("minv")
    plain = robot(name, base).model
    for model in (plain, with_rotors(plain)):
        reduced = reduce(model)
        bias, embedded = (operations(reduced, aba, aba.form(form)) for form in ("bias", "embedded"))
        assert embedded == bias
        hybrid, embedded = (operations(reduced, minv, minv.form(form)) for form in ("hybrid", "embedded"))
        assert abs(embedded - hybrid) <= 12


def with_rotors(model: Model) -> Model:
    bodies = []
    for body in model.bodies:
        joint = body.joint
        own = replace(joint.resistance, armature=0.1 if joint.nv == 1 else 0)
        bodies.append(replace(body, joint=replace(joint, resistance=own)))
    return replace(model, bodies=tuple(bodies))


COUPLED: dict[str, tuple[str, Base, dict[str, tuple[str, float]]]] = {
    "panda": ("panda", "fixed", {}),
    "humanoid, a wrist": ("humanoid30", "floating", {"left_wrist_roll": ("left_wrist_pitch", 0.5)}),
    "humanoid, elbows": ("humanoid30", "floating", {"right_elbow_pitch": ("left_elbow_pitch", -1.0)}),
}


def coupled(name: str) -> Model:
    path, base, followers = COUPLED[name]
    return build_robot(with_followers(read_urdf(PATHS[path]), followers), base).model


def test_pinned(golden: Callable[[str, str], None]) -> None:
    """Operations as traced, in the given frames, compared with those where all joints are independent."""
    lines = []
    forms = {"aba": ("composite_moments", "embedded", "bias"), "minv": ("moments", "embedded", "hybrid")}
    for name, (path, base, _) in COUPLED.items():
        reduced, free = reduce(coupled(name)), reduce(robot(path, base).model)
        for row, (*folding, plain) in forms.items():
            function = lookup(row)
            counts = {form: operations(reduced, function, function.form(form)) for form in folding}
            counts["free"] = operations(free, function, function.form(plain))
            lines.append(f"{name}: {row}: {counts}\n")
    golden("operation_counts/followers.txt", "".join(lines))


@pytest.mark.parametrize(
    ("name", "form"), [("panda", "composite_moments"), ("humanoid, a wrist", "embedded")]
)
def test_the_cheaper_form_is_chosen(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rbdgen.selection.choose.LIMITS", Limits(refinement=0))
    assert choose(lookup("aba"), coupled(name), None, engine="graph").form == form
