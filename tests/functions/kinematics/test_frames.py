"""All forms of functions of frames agree with Pinocchio, differences and exact identities; counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.few import examples, few
from support.forms import FunctionForm, relative_error, run_on_floats
from support.frames import with_feet, with_frames, with_links, with_tool
from support.functions import OF_FRAMES
from support.mimic import Projection, with_mimics
from support.pinocchio_oracle import PinocchioOracle, model_of_numbers, model_of_urdf
from support.random_trees import in_floats, random_tree
from support.random_urdf import robots
from support.rationals import Rationals
from support.robots import BASES, PATHS, robot
from support.states import random_inputs
from support.synthetic import urdf
from support.trees import some

from rbdgen.checks.pinocchio import configuration_of
from rbdgen.description.urdf import parse_urdf, read_urdf
from rbdgen.functions.function import Function
from rbdgen.functions.kinematics.columns import CONVENTIONS
from rbdgen.functions.table import ALL
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.build import Base, Robot, build_robot
from rbdgen.model.frames import Frame
from rbdgen.model.model import WORLD, Model
from rbdgen.model.reduce import reduce
from rbdgen.model.tree_size import tree_size
from rbdgen.pipeline.design import count
from rbdgen.selection.axes import operations, search
from rbdgen.selection.trace import trace_on
from rbdgen.spatial.ops import Vector
from rbdgen.sweeps.inputs import State

Array = NDArray[np.float64]

TOLERANCE = 1e-12


def tolerance(row: Function) -> float:
    """Functions that solve with M are not as near as those that differ by rounding alone."""
    return 1e-9 if row.projected else TOLERANCE


TREES = some("chain", "screws and a plane", "floating tree", "all")

DERIVATIVES = [row for row in OF_FRAMES.values() if row.derivative_of]

each_row = pytest.mark.parametrize("row", OF_FRAMES.values(), ids=OF_FRAMES)
each_convention = pytest.mark.parametrize("x", CONVENTIONS)


def assert_all_forms(model: Model, seed: int, states: int = 2) -> None:
    """Asserts that every form of every function of frames agrees with Pinocchio."""
    oracle = PinocchioOracle(model_of_numbers(model), model)
    for row in OF_FRAMES.values():
        inputs = random_inputs(model, row.signature, states, seed)
        expected = oracle(row.name, inputs)
        for form in row.forms:
            outputs = run_on_floats(FunctionForm(row, form), model, inputs)
            for ours, theirs in zip(outputs, expected, strict=True):
                error = relative_error(ours, theirs, floor=1.0)
                assert error < tolerance(row), (row.name, form.name, seed)


ROBOTS = ["arm7", "double_pendulum", "quadruped12", "humanoid30", "puma560", "ur5"]


@pytest.mark.parametrize(
    ("name", "base"),
    few([("arm7", "fixed"), ("ur5", "floating"), ("quadruped12", "floating")], product(ROBOTS, BASES)),
)
def test_robots(name: str, base: Base) -> None:
    assert_all_forms(with_links(name, base), 0)


@settings(max_examples=examples(8, 15), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_trees(seed: int) -> None:
    """All forms agree with Pinocchio for trees of joints of all types, in any order."""
    assert_all_forms(with_frames(random_tree(seed, 5), seed), seed)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ["panda", "hyq", "talos_reduced"])
def test_frames_are_where_pinocchio_reads_them(name: str, base: Base) -> None:
    """The frames of all links and joints are those of Pinocchio's reading of the file, by name."""
    found = robot(name, base, 0.0)
    reference = model_of_urdf(PATHS[name].read_text(), base)
    data = reference.createData()
    names = [frame.name for frame in list(reference.frames)[1:] if frame.name != "root_joint"]
    assert set(names) <= set(found.known_frames)
    model = replace(found.model, frames=tuple(found.known_frames[x] for x in names))
    row = OF_FRAMES["frame_placement"]
    inputs = random_inputs(model, row.signature, 1)
    pin.framesForwardKinematics(
        reference, data, configuration_of(reference, model.manifold.joints, inputs["q"][0])
    )
    R, p = run_on_floats(FunctionForm(row, row.form("from_root")), model, inputs)
    placements = [data.oMf[reference.getFrameId(x)] for x in names]
    np.testing.assert_allclose(R[0], [T.rotation for T in placements], rtol=0, atol=1e-12)
    np.testing.assert_allclose(p[0], [T.translation for T in placements], rtol=0, atol=1e-12)


# ---- exactly


class Exact:
    """Evaluates functions at one rational state, and asserts that all forms give equal results."""

    def __init__(self, name: str) -> None:
        numbers = Rationals(7)
        self.model = with_frames(numbers.model(*TREES[name]), 7, exact=True)
        self.q = numbers.coordinates(self.model)
        self.v, self.a = (numbers.numbers(self.model.nv) for _ in range(2))

    def __call__(self, name: str, **changed: Any) -> list[Any]:
        """Returns an array of exact numbers for each output, in the shape of the signature."""
        row = OF_FRAMES[name]
        given = {"v": self.v, "a": self.a, **changed}
        taken = {x.name: given[x.name] for x in row.signature.inputs if x.name in given}
        found = [row.trace(form, self.model, State(self.q, **taken)) for form in row.forms]
        assert all(list(map(list, other)) == list(map(list, found[0])) for other in found[1:]), name
        shapes = [x.shape for x in row.signature.sized(self.model.sizes).outputs]
        return [np.array(x, object).reshape(s) for x, s in zip(found[0], shapes, strict=True)]


each_tree = pytest.mark.parametrize("name", TREES)


@each_tree
def test_all_forms_are_one_function(name: str) -> None:
    exact = Exact(name)
    R, p = exact("frame_placement")
    assert all((each @ each.T == np.eye(3, dtype=int)).all() for each in R)
    assert all(isinstance(value, (int, Fraction)) for value in p.flat)


@each_convention
@each_tree
def test_identities_hold_exactly(name: str, x: str) -> None:
    exact = Exact(name)
    v, a = np.array(exact.v), np.array(exact.a)
    (J,), (V,), (A,) = (exact(f"frame_{what}_{x}") for what in ("jacobian", "velocity", "acceleration"))
    (dJ,), (drift,) = exact(f"frame_jacobian_rate_{x}"), exact(f"frame_drift_{x}")
    (classical,) = exact(f"frame_classical_acceleration_{x}")
    assert (J @ v == V).all()
    assert (dJ @ v == drift).all()
    assert (J @ a + drift == (classical if x == "aligned" else A)).all()
    slip = [Vector(*one[3:]).cross(Vector(*one[:3])) for one in V]
    assert (classical - A == [[*each, 0, 0, 0] for each in slip]).all()
    dv_dq, dv_dv = exact(f"frame_velocity_derivatives_{x}")
    da_dq, da_dv, da_da = exact(f"frame_acceleration_derivatives_{x}")
    assert (dv_dv == J).all()
    assert (da_da == J).all()
    assert (da_dv @ v + 2 * da_da @ a == 2 * A).all()
    # along the motion itself
    assert (dv_dq @ v == drift).all()
    assert dv_dq.shape == da_dq.shape == J.shape


@each_convention
def test_conventions_are_one_motion(x: str) -> None:
    """A local motion rotated by R is the aligned one; moved to the world's origin, this is the world's."""
    exact = Exact("all")
    R, p = exact("frame_placement")
    for what in ("velocity", "acceleration"):
        (local,), (aligned,), (world,) = (exact(f"frame_{what}_{c}") for c in ("local", "aligned", "world"))
        for k in range(len(R)):
            assert (R[k] @ local[k][:3] == aligned[k][:3]).all()
            assert (R[k] @ local[k][3:] == aligned[k][3:]).all()
            shift = Vector(*p[k]).cross(Vector(*aligned[k][3:]))
            assert (aligned[k] + [*shift, 0, 0, 0] == world[k]).all()


def test_what_does_not_move_a_frame_has_no_column() -> None:
    """Columns of joints that do not move a frame are 0 before any simplification."""
    model = Exact("floating tree").model
    frames = tuple(Frame(f"{body}", body, model.frames[0].placement) for body in (WORLD, 2, 4))
    model = replace(model, frames=frames)
    for x in CONVENTIONS:
        row = OF_FRAMES[f"frame_jacobian_{x}"]
        q = Rationals(5).coordinates(model)
        for form in row.forms:
            J = np.array(row.trace(form, model, State(q))[0], object).reshape(3, 6, model.nv)
            still = [[type(value) is int and value == 0 for value in column] for column in J[0].T]
            assert all(map(all, still))
            zero = [all(type(value) is int and value == 0 for value in column) for column in J[2].T]
            assert zero == [False] * 6 + [True] * 3 + [False]


# ---- differences


def central(row: Function, model: Model, inputs: Mapping[str, Array], name: str, kind: str, k: int) -> Array:
    """The slope of the function's first form by one coordinate of an input, in the tangent space."""
    step = np.zeros((1, model.nv))
    step[0, k] = 1e-5
    ends = []
    for sign in (1, -1):
        at = inputs[name]
        moved = model.manifold.integrate(at, sign * step) if kind == "configuration" else at + sign * step
        ends += run_on_floats(FunctionForm(row, row.forms[0]), model, {**inputs, name: moved})
    return (ends[0] - ends[1]) / 2e-5


@pytest.mark.parametrize("seed", few([4], [1, 4, 9]))
@pytest.mark.parametrize(
    "row", [row for row in OF_FRAMES.values() if row.derivative_of], ids=lambda x: x.name
)
def test_derivatives_are_those_of_the_vectors_returned(row: Function, seed: int) -> None:
    """Some joints of several degrees of freedom are below others; there Pinocchio's derivatives are wrong."""
    model = with_frames(Rationals(seed).model((WORLD, 0, 1, 1, 3), "RSLFH"), seed)
    model = replace(model, bodies=tuple(map(in_floats, model.bodies)))
    assert row.derivative_of is not None
    function = OF_FRAMES[row.derivative_of]
    assert function.signature.inputs == row.signature.inputs
    inputs = random_inputs(model, row.signature, 1, seed)
    ours = run_on_floats(FunctionForm(row, row.forms[-1]), model, inputs)
    for argument, matrix in zip(row.signature.inputs, ours, strict=True):
        steps = [central(function, model, inputs, argument.name, argument.kind, k) for k in range(model.nv)]
        assert relative_error(matrix, np.stack(steps, axis=-1), floor=1.0) < 1e-8, argument.name


@each_convention
def test_rate_of_the_jacobian_is_its_difference(x: str) -> None:
    model = with_links("ur5", "floating")
    rate, jacobian = OF_FRAMES[f"frame_jacobian_rate_{x}"], OF_FRAMES[f"frame_jacobian_{x}"]
    inputs = random_inputs(model, rate.signature, 1)
    (ours,) = run_on_floats(FunctionForm(rate, rate.forms[-1]), model, inputs)
    ends = []
    for t in (1e-5, -1e-5):
        moved = {"q": model.manifold.integrate(inputs["q"], t * inputs["v"])}
        ends += run_on_floats(FunctionForm(jacobian, jacobian.forms[0]), model, moved)
    np.testing.assert_allclose(ours, (ends[0] - ends[1]) / 2e-5, rtol=1e-7, atol=1e-7)


# ---- joints that follow others


@settings(max_examples=examples(6, 10), deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(robots(max_joints=6), st.integers(0, 2**32 - 1), st.sampled_from(BASES))
def test_columns_of_followers_are_folded(text: str, seed: int, base: Base) -> None:
    """The reference is the robot with all joints independent, projected by NumPy."""
    description = with_mimics(parse_urdf(text), np.random.default_rng(seed))
    projection = Projection.of(description, base, frames=["*"])
    model = projection.coupled.model
    for row in OF_FRAMES.values():
        inputs = random_inputs(model, row.signature, 2, seed)
        expected = projection.outputs(row, inputs)
        for form in row.forms:
            outputs = run_on_floats(FunctionForm(row, form), model, inputs)
            for ours, theirs in zip(outputs, expected, strict=True):
                error = relative_error(ours, theirs, floor=1.0)
                assert error < tolerance(row), (row.name, form.name)


# ---- rows and counts


@each_row
def test_rows(row: Function) -> None:
    """Rows have the right shapes, and an identity belongs to the last of the functions that it names."""
    for output in row.signature.outputs:
        assert output.shape[0] == "nf"
        assert (output.kind == "columns") == (output.shape[-1] == "nv")
        assert output.unit
        assert output.meaning
    above = list(ALL)[: list(ALL).index(row.name) + 1]
    for identity in row.identities:
        assert row.name in identity.functions
        assert set(identity.functions) <= set(above)
    assert row.of_frames


def synthetic(parents: list[int], on: list[int]) -> Model:
    """A robot with general axes, placements and frames."""
    model = build_robot(parse_urdf(urdf(parents))).model
    frames = (Frame(str(k), body, model.bodies[k].placement) for k, body in enumerate(on))
    return replace(model, frames=tuple(frames))


@each_row
def test_estimates_are_near_what_is_traced(row: Function) -> None:
    for parents, on in (([-1, 0, 1, 2, -1, 4, 5, 6], [3, 7]), (list(range(-1, 7)), [7, 7, 5])):
        model = synthetic(parents, on)
        tracer = GraphEngine()
        counted = tracer.cost(trace_on(tracer, model, row, row.forms[0])).total
        assert 0.85 < row.operations(tree_size(model)) / counted < 1.15


def test_frames_share_what_moves_them() -> None:
    """A second frame on the last body costs half as much as the first, or less."""
    one, two = (reduce(synthetic(list(range(-1, 7)), on)) for on in ([7], [7, 7]))
    row = OF_FRAMES["frame_placement"]
    costs = [operations(reduced, row, row.form("from_root")) for reduced in (one, two)]
    assert costs[0] < costs[1] < 1.5 * costs[0]


def test_chosen_frames_leave_the_axes_of_other_functions_alone() -> None:
    assert search(with_tool()) == search(robot("arm7").model)


def robot_of(model: Model) -> Robot:
    """A robot that has these frames."""
    name = model.name if model.name in PATHS else next(x for x in PATHS if x in model.name)
    base: Base = "floating" if model.is_floating else "fixed"
    return replace(robot(name, base), model=model)


PINNED: dict[Callable[[], Model], tuple[str, ...]] = {
    with_tool: (
        "frame_placement",
        "frame_jacobian_aligned",
        "frame_jacobian_local",
        "frame_velocity_local",
        "frame_drift_aligned",
        "frame_acceleration_derivatives_local",
        "frame_jacobian_derivatives_local",
        "frame_jacobian_derivatives_aligned",
    ),
    with_feet: (
        "frame_placement",
        "frame_jacobian_aligned",
        "frame_jacobian_local",
        "frame_velocity_aligned",
        "frame_drift_aligned",
        "frame_jacobian_derivatives_aligned",
    ),
}


@pytest.mark.parametrize("make", PINNED, ids=lambda make: make.__name__)
def test_pinned_counts(make: Callable[[], Model], golden: Any) -> None:
    """Pins the counts of the chosen forms after all passes."""
    counted = count(robot_of(make()), PINNED[make])
    lines = [f"{function}: {form}: {cost}\n" for function, (form, cost) in counted.items()]
    golden(f"chosen_counts/{make.__name__}.txt", "".join(lines))


def test_a_public_gripper_follows() -> None:
    """The results of a gripper with a mimic finger agree with Pinocchio, also for a frame of the world."""
    found = build_robot(read_urdf(PATHS["panda"]), frames=["panda_*finger", "panda_link0", "world"])
    assert [frame.name for frame in found.model.frames] == [
        "panda_leftfinger",
        "panda_rightfinger",
        "panda_link0",
        "world",
    ]
    assert found.model.sizes["nv"] == 8
