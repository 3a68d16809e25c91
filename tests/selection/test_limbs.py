"""Alike limbs as lanes: values are the textbook's, batches have the same bits, other robots are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from support.limbs import CASES, LEG, SLIDE, loops_in_limbs, with_limbs
from support.momentum import MOMENTUM
from support.robots import robot
from support.states import random_inputs

from rbdgen.emit.c.lane_printer import print_limbs
from rbdgen.emit.c.printer import scalar_style
from rbdgen.emit.real import real_type
from rbdgen.errors import GraphError, OptionError
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.programs.lanes import known, limb_by_limb, work
from rbdgen.graph.programs.program import Program, straight_line
from rbdgen.graph.programs.run import run
from rbdgen.graph.programs.verify import verify_program
from rbdgen.model.alike_limbs import alike_limbs, limbs_in_lanes
from rbdgen.model.build import Base, build_robot
from rbdgen.model.model import Model
from rbdgen.model.reduce import reduce
from rbdgen.model.resistance import Dissipation
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.selection.axes import unmoved
from rbdgen.selection.choose import subjects
from rbdgen.selection.limb_table import LimbTable
from rbdgen.selection.limbs import InLimbs, cheapest_in_limbs, trace_in_limbs
from rbdgen.selection.trace import trace_graph

FUNCTIONS = ("rnea_fext", "gravity", "aba", "crba", "minv")


def in_limbs(function: Function, model: Model) -> InLimbs:
    found = cheapest_in_limbs(function, model, [("as given", reduce(model))], 0.25, sums=True)
    assert found is not None
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(("limbs", "base", "lanes"), CASES)
def test_values_and_bits(limbs: Sequence[Sequence[str]], base: Base, lanes: int, name: str) -> None:
    """Values are those of the textbook's form; limb by limb they have the same bits as all limbs together."""
    model, function = with_limbs(limbs, base).model, lookup(name)
    textbook = straight_line(trace_graph(model, function, function.forms[0], "graph"))
    found = in_limbs(function, model)
    for program in (found.lanes, found.by_limb):
        verify_program(program)
    (loop,) = found.lanes.loops
    assert loop.kernel.lanes == lanes
    assert found.by_limb.cost.join == found.by_limb.cost.turn == 0
    inputs = states(textbook)
    wanted, together, apart = (run(x, inputs) for x in (textbook, found.lanes, found.by_limb))
    for output, values in wanted.items():
        np.testing.assert_allclose(together[output], values, rtol=0, atol=1e-12 * abs(values).max())
        np.testing.assert_array_equal(together[output].view(np.int64), apart[output].view(np.int64))


FREE = (
    "crba_world",
    "nle_world",
    "nle_free_base",
    "rnea_free_base",
    "crba_free_base",
    "regressor",
    "kinetic_regressor",
)


@pytest.mark.parametrize(
    ("case", "name"),
    [*((1, name) for name in (*MOMENTUM, *FREE)), (0, "crba_free_base"), (2, "com_acceleration")],
)
def test_functions_of_the_whole_robot(case: int, name: str) -> None:
    """What limbs of different masses hand on to the whole robot is summed over them."""
    limbs, base, lanes = CASES[case]
    model, function = with_limbs(limbs, base).model, lookup(name)
    textbook = straight_line(trace_graph(model, function, function.forms[0], "graph"))
    (found,) = [x for x in limbs_in_lanes(model) if x.lanes == lanes]
    traced = known(trace_in_limbs(reduce(model), found, function, function.form("limbs")))
    apart = limb_by_limb(traced)
    inputs = random_inputs(model, function.sized(model), 5, 3)
    wanted, together, single = (run(x, inputs) for x in (textbook, traced, apart))
    verify_program(traced)
    verify_program(apart)
    for output, values in wanted.items():
        np.testing.assert_allclose(together[output], values, rtol=0, atol=1e-13 * abs(values).max())
        np.testing.assert_array_equal(together[output], single[output])


@pytest.mark.parametrize(
    ("limbs", "base", "lanes"),
    [CASES[1], ([("revolute",)] * 4, "fixed", 2), ([("revolute",)] * 2, "fixed", 2)],
    ids=["base", "factor of diagonals alone", "limbs that are one number"],
)
def test_a_line_of_loops(limbs: Sequence[Sequence[str]], base: Base, lanes: int) -> None:
    """A form in loops has limbs as lanes in the loop that reads q, with the bits of one limb at a time."""
    model, function = with_limbs(limbs, base).model, lookup("minv")
    textbook = straight_line(trace_graph(model, function, function.forms[0], "graph"))
    found = loops_in_limbs("minv", model)
    for program in (found.lanes, found.by_limb):
        verify_program(program)
        assert len(program.loops) > 2
    assert [loop.kernel.lanes for loop in found.lanes.loops if loop.name == "factor"] == [lanes]
    assert all(loop.kernel.lanes == 1 for loop in found.by_limb.loops)
    inputs = states(textbook)
    wanted, together, apart = (run(x, inputs)["Minv"] for x in (textbook, found.lanes, found.by_limb))
    np.testing.assert_allclose(together, wanted, rtol=0, atol=1e-12 * abs(wanted).max())
    np.testing.assert_array_equal(together, apart)
    np.testing.assert_array_equal(together, together.swapaxes(-1, -2))


@pytest.mark.parametrize(
    ("limbs", "base", "lanes", "name"),
    [
        ([LEG] * 4, "floating", 4, "aba_derivatives"),
        ([LEG, ("prismatic",), LEG], "floating", 2, "aba_and_derivatives"),
        ([SLIDE] * 2, "fixed", 2, "aba_derivatives"),
    ],
)
def test_derivatives_up_to_the_last_product(
    limbs: Sequence[Sequence[str]], base: Base, lanes: int, name: str
) -> None:
    """Limbs are lanes up to the last product. Joints have damping, springs and rotors, which differ between
    limbs.
    """
    plain = with_limbs(limbs, base).description
    joints = tuple(
        replace(x, damping=0.1 + k, armature=0.1 * k, stiffness=2.0) for k, x in enumerate(plain.joints)
    )
    resisting = Dissipation(damping=True)
    model = build_robot(replace(plain, joints=joints), base, dissipation=resisting).model
    function = lookup(name)
    textbook = straight_line(trace_graph(model, function, function.forms[0], "graph"))
    found = loops_in_limbs(name, model, "halves")
    for program in (found.lanes, found.by_limb):
        verify_program(program)
    assert [loop.kernel.lanes for loop in found.lanes.loops if loop.name == "halves"] == [lanes]
    inputs = random_inputs(model, function.sized(model), 5, 3)
    wanted, together, apart = (run(x, inputs) for x in (textbook, found.lanes, found.by_limb))
    for output, values in wanted.items():
        np.testing.assert_allclose(together[output], values, rtol=0, atol=1e-12 * abs(values).max())
        np.testing.assert_array_equal(together[output], apart[output])


@pytest.mark.parametrize("packed", [False, True])
def test_loops_have_limbs_where_they_may(packed: bool) -> None:
    asked = Options(functions=("minv",), variants={"minv": "columns"}, packed=packed)
    (found,) = design_functions(Request(with_limbs([SLIDE] * 4), asked))
    assert (found.form, found.lanes is None) == ("columns", packed)


def states(program: Program) -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    return {x.name: random.normal(size=(5, x.size)) for x in program.inputs}


def test_axes_of_one_limb_alone() -> None:
    """If only one of two limbs has parallel axes, the equations of neither stay in the parent's axes.

    A frame on one limb, which these functions do not read, has no effect.
    """
    robot = with_limbs([LEG] * 2)
    own = {joint.name: joint for joint in robot.description.joints}
    own["limb0_1_joint"] = replace(own["limb0_1_joint"], axis=own["limb0_0_joint"].axis)
    description = replace(robot.description, joints=tuple(own.values()))
    model = build_robot(description, "floating", frames=("limb0_1",)).model
    function = lookup("rnea")
    textbook = straight_line(trace_graph(model, function, function.forms[0], "graph"))
    inputs = states(textbook)
    wanted = run(textbook, inputs)["tau"]
    kinds = dict(subjects(model, unmoved(model), sums=True))
    assert kinds["searched, parallel axes"].parallel == {2}
    for reduced in kinds.values():
        for limbs in limbs_in_lanes(model):
            given = run(trace_in_limbs(reduced, limbs, function, function.form("limbs")), inputs)["tau"]
            np.testing.assert_allclose(given, wanted, rtol=0, atol=1e-12 * abs(wanted).max())


@pytest.mark.parametrize("values", [(frozenset({2}), frozenset()), (((1, 2), 0.5), (1, 0.5)), (None, 1.5)])
def test_what_is_no_number_must_be_equal(values: tuple[object, ...]) -> None:
    """Values of limbs that are not numbers must be equal, as those of the first limb are used for all."""
    table = LimbTable()
    assert table.merged(["hip", "other hip"]) == "hip"
    assert table.merged([values[0], values[0]]) == values[0]
    with pytest.raises(AssertionError, match="limbs differ in"):
        table.merged(values)


def test_every_element_is_written() -> None:
    """Elements of a limb that are constants, such as the diagonal of M of two pendulums, are written in C."""
    program = in_limbs(lookup("crba"), with_limbs([("revolute",)] * 2, "fixed").model).lanes
    body = print_limbs(program.loops[0], program.tables, scalar_style(real_type("double")), "limbed")
    written = sorted(match for line in body.statements for match in re.findall(r"^M\[(\d)\] = ", line))
    assert written == list("0123")


def test_neighbours_in_every_limb_are_written_together() -> None:
    """Elements of M that are neighbours in every limb are written in pairs, each once."""
    program = in_limbs(lookup("crba"), with_limbs([LEG] * 4).model).lanes
    style = scalar_style(real_type("double"))
    statements = print_limbs(program.loops[0], program.tables, style, "limbed").statements
    pairs = [re.findall(r"&M\[(\d+)\]", line) for line in statements if "_LIMBS4_PAIR(" in line]
    together = [int(place) + k for places in pairs for place in places for k in range(2)]
    alone = [int(at) for line in statements for at in re.findall(r"^M\[(\d+)\] = .*\[\d\];", line)]
    first = {int(at) for line in statements for at in re.findall(r"^M\[(\d+)\] = .*\[0\];", line)}
    assert len(set(together + alone)) == len(together + alone)
    assert len(pairs) > len(first)
    assert first.isdisjoint(at + 1 for at in first)


def test_alike_limbs() -> None:
    """The outermost limbs are alike, such as a humanoid's legs on the base and its arms on the chest."""
    legs, arms = alike_limbs(robot("humanoid30", "floating").model)
    assert [len(limb) for limb in (*legs, *arms)] == [6, 6, 7, 7]
    widths = [(x.lanes, len(x.groups)) for x in limbs_in_lanes(with_limbs([LEG] * 6).model)]
    assert widths == [(2, 3), (4, 1)]


@pytest.mark.parametrize(
    ("limbs", "options", "reason"),
    [
        (
            [LEG, SLIDE],
            {},
            r"the limbs of joints 'limb0_0_joint' and 'limb1_0_joint' differ: "
            r"'limb0_1_joint' is revolute with 0 joints on it, "
            r"'limb1_1_joint' is prismatic with 1 joint on it",
        ),
        ([LEG], {}, "no body carries two"),
        ([LEG] * 2, {"target": "portable"}, "target='portable' has no vectors"),
        ([LEG] * 2, {"trig": "input"}, "trig='input' gives sines one by one"),
        ([LEG] * 2, {"packed": True, "functions": ("crba",)}, "outputs are packed"),
    ],
)
def test_refused(limbs: Sequence[Sequence[str]], options: dict[str, object], reason: str) -> None:
    asked = Options(**{"functions": ("rnea",), **options})  # type: ignore[arg-type]
    asked = replace(asked, variants=dict.fromkeys(asked.functions, "limbs"))
    with pytest.raises(OptionError, match=reason):
        design_functions(Request(with_limbs(limbs), asked))


def test_functions_of_no_joints_have_no_such_form() -> None:
    with pytest.raises(OptionError, match="'kinetic_energy' has no form 'limbs'"):
        lookup("kinetic_energy").form("limbs")


def test_code_beyond_the_cache_takes_as_long_as_it_streams() -> None:
    """A line ten times as long takes ten times as long in the cache, and longer if it exceeds the cache."""

    def chain(length: int) -> float:
        nodes = (Node("input"), *(Node("add", (k, 0)) for k in range(length)))
        line = straight_line(Graph((Input("x", 1),), nodes, (Output("y", (1,), (length,)),)))
        return work(line.loops[0], 1)

    assert chain(2000) == pytest.approx(10 * chain(200), rel=0.01)
    assert 12 * chain(500) < chain(6000) < 20 * chain(500)


def test_a_small_gain_is_left() -> None:
    """For two sliding masses on a trunk, lanes save nothing and batches would be slower."""
    (found,) = design_functions(Request(with_limbs([("prismatic",)] * 2), Options(functions=("gravity",))))
    assert found.lanes is None


def test_lanes_are_verified() -> None:
    """The verification refuses a wrong number of places for lanes, and an element that is written twice."""
    program = in_limbs(lookup("gravity"), with_limbs([LEG] * 2).model).lanes
    (loop,) = program.loops
    name = next(name for name, access in loop.reads.items() if access.array == "q" and not access.shared)
    short = replace(loop.reads[name], offsets=(0, 1, 2))
    with pytest.raises(GraphError, match="3 places for 2 lanes"):
        verify_program(replace(program, loops=(replace(loop, reads={**loop.reads, name: short}),)))
    name = next(name for name, access in loop.writes.items() if not access.shared)
    same = replace(loop.writes[name], offsets=(0, 0))
    with pytest.raises(GraphError, match="writes an element twice"):
        verify_program(replace(program, loops=(replace(loop, writes={**loop.writes, name: same}),)))


def test_lines_too_long_for_one_piece_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the form is too long, it is refused, and no straight line takes its name."""
    monkeypatch.setattr("rbdgen.selection.limbs.LONGEST", 10)
    robot = with_limbs([("revolute",)] * 2)
    asked = Options(functions=("gravity",), variants={"gravity": "limbs"})
    with pytest.raises(OptionError, match=r"'limbs'\}: its straight line has more than \d+ operations"):
        design_functions(Request(robot, asked))
