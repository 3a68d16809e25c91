"""Contacts and sets of contacts as options, the refusals of wrong ones, and their rows in a manifest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contacts import legs
from support.forms import FunctionForm, run_on_floats
from support.functions import OF_CONTACTS
from support.states import random_inputs

import rbdgen
from rbdgen import Frame, Loop, Point, Sole
from rbdgen.checks.check import check
from rbdgen.cli import main
from rbdgen.cli.arguments import options_of, robot_of
from rbdgen.cli.parsers import PARSERS
from rbdgen.description.contacts import DEFAULT_PLAN, SOLE_PLAN
from rbdgen.errors import ModelError, OptionError, RbdgenError
from rbdgen.functions.table import ALL, lookup, rows_of
from rbdgen.model.reduce import reduce
from rbdgen.options import Options
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.request import Request
from rbdgen.selection.trace import trace_program

HELD = [name for name, row in ALL.items() if row.of_contacts]

TRIANGLE = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)]

SOLE, HAND = Frame("sole", "left_sole"), Point("hand", "hand", (0.1, 0, 0.2))
BAR = Loop("bar", "hand", (0, 0, 0.1), "right_shank", (0, 0.1, -0.1))


def biped(contacts: Any = (SOLE, HAND, BAR), sets: Any = None, base: Any = "floating") -> rbdgen.Robot:
    return rbdgen.load_robot(legs(), base=base, contacts=contacts, contact_sets=sets)


@pytest.mark.parametrize(
    ("contacts", "said"),
    [
        ([Point("a", "left_soul")], "contact 'a': there is no link 'left_soul'; did you mean 'left_sole'"),
        ([HAND, Frame("hand", "hand")], "contact 'hand': there are two of this name; give each its own"),
        (
            [Loop("a", "left_foot", (0, 0, 0), "left_sole")],
            "contact 'a': links 'left_foot' and 'left_sole' are on one body; name links with a joint between",
        ),
        ([Point("a", "world")], "contact 'a': no joint moves link 'world'; name a link behind a joint"),
        ([Point("a", "hand", (0, 1))], "contact 'a': point (0, 1) is not a point; give three numbers, in m"),
        ([Point("a", "hand", (0, np.nan, 1))], "is not a point; give three numbers, in m"),
        ([Point("a", "hand", (0, 1e200, 1))], "is not a point; give three numbers, in m"),
        ([Point("", "hand")], "contact '': name '' is no name; give one"),
        ([Point("a,b", "hand")], "contact 'a,b': a name with , = or : in it; leave them out"),
        ([Sole("a", "hand")], "contact 'a': neither size nor corners; give one of them"),
        (
            [Sole("a", "hand", (0.1, 0.1), corners=TRIANGLE)],
            "contact 'a': both size and corners; give one of them",
        ),
        (
            [Sole("a", "hand", (0.1, 0))],
            "contact 'a': size (0.1, 0) is not a size; give a length and a width",
        ),
        ([Sole("a", "hand", (0.1, np.nan))], "is not a size; give a length and a width, in m"),
        ([Sole("a", "hand", 0.1)], "contact 'a': size 0.1 is not a size"),  # type: ignore[arg-type]
        ([Sole("a", "hand", (1, 2, 3))], "contact 'a': size (1, 2, 3) is not a size"),
        ([Sole("a", "hand", (1, 2), (0, 0))], "contact 'a': point (0, 0) is not a point; give three numbers"),
        ([Sole("a", "hand", corners=TRIANGLE, point=(0, np.inf, 0))], "point (0, inf, 0) is not a point"),
        (
            [Sole("a", "hand", corners=[(0, 0)])],
            "contact 'a': corner (0, 0) is not a point; give three numbers",
        ),
        ([Sole("a", "hand", corners=[(0, 0, np.nan), *TRIANGLE])], "corner (0, 0, nan) is not a point"),
        (
            [Sole("a", "hand", corners=TRIANGLE[:2])],
            "contact 'a': its 2 corners are not three points or more",
        ),
        ([Sole("a", "hand", corners=[])], "contact 'a': its 0 corners are not three points or more"),
        ([Sole("a", "hand", corners=3)], "contact 'a': its 0 corners"),  # type: ignore[arg-type]
        (
            [Sole("a", "hand", corners=[(0, 0, 0), (1, 1, 1), (3, 3, 3), (3, 3, 3)])],
            "contact 'a': its 4 corners are not three points or more that span an area; give such corners",
        ),
        (
            [Sole("a", "hand", corners=4 * [(1, 2, 3)])],
            "contact 'a': its 4 corners are not three points or more",
        ),
        ([Sole("a", "", (0.1, 0.1))], "contact 'a': link '' is no name; give one"),
        ([Sole("a", "world", (0.1, 0.1))], "contact 'a': no joint moves link 'world'"),
        ([("a", "hand")], "contact ('a', 'hand') is not a contact; give rbdgen.Point, rbdgen.Frame, rbdgen"),
        (["a="], "contact 'a=': not of the form [NAME=]LINK[:X,Y,Z[,RADIUS]]"),
        (["hand:1,2,3,-1"], "contact 'hand': radius -1.0 is not a radius; give a number >= 0, in m"),
        (["hand:1,2"], "contact 'hand:1,2': a point is three numbers X,Y,Z; there are 2"),
        ("left_soul", "contact 'left_soul': there is no link 'left_soul'; did you mean 'left_sole'"),
        ("*_soul", "contact '*_soul': there is no link '*_soul'"),
        ("a=left_*", "contact 'a': 'left_*' stands for 4 links; leave the contact's name out"),
        (["hand", "h*d"], "contact 'hand': there are two of this name"),
        (3, "contact 3 is not a contact"),
    ],
)
def test_contacts_that_make_no_sense(contacts: Any, said: str) -> None:
    with pytest.raises(RbdgenError) as caught:
        biped(contacts)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ({"swing": []}, "contact set 'swing': [] is not a list of one contact or more; give their names"),
        (
            {"swing": "hand"},
            "contact set 'swing': 'hand' is not a list of one contact or more; give",
        ),
        ({"swing": ["hnd"]}, "contact set 'swing': there is no contact 'hnd'; did you mean 'hand'?"),
        ({"swing": ["x"]}, "there is no contact 'x'; choose from: sole, hand, bar"),
        (
            {"swing": ["bar", "sole", "bar"]},
            "contact set 'swing': contact 'bar' is in it twice; name it once",
        ),
        ({"left foot": ["sole"]}, "contact set 'left foot': its name becomes part of names of functions"),
        ({3: ["sole"]}, "contact set 3: its name becomes part of names of functions"),
        (
            ["sole"],
            "contact_sets ['sole'] is not a dict; give contacts by name, such as {'trot': ['lf', 'rh']}",
        ),
    ],
)
def test_sets_that_make_no_sense(sets: Any, said: str) -> None:
    with pytest.raises(RbdgenError) as caught:
        biped(sets=sets)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_set_needs_contacts() -> None:
    with pytest.raises(ModelError, match=r"there is no contact 'sole'; give contacts=\['NAME=LINK'\]"):
        biped([], {"swing": ["sole"]})


def test_a_set_does_not_take_the_name_of_another_function() -> None:
    """The name of a function can clash with that of a set, such as `contact_aba_held` of a set `held`."""
    taken = {name.removeprefix(f"{x}_") for name in ALL for x in HELD if name.startswith(f"{x}_")}
    assert "held" in taken
    for name in taken:
        with pytest.raises(OptionError, match=rf"contact set '{name}': there is a function \w+_{name}; take"):
            biped(sets={name: ["sole"]})


def test_who_has_no_contacts_has_no_such_functions() -> None:
    plain = rbdgen.load_robot("arm7")
    assert not any(row.of_contacts for row in rows_of(plain.model).values())
    said = "'contact_motion' needs contacts, which 'arm7' does not have; give contacts=\\['NAME=LINK'\\] to "
    with pytest.raises(OptionError, match=said):
        rbdgen.build(plain, functions=["contact_motion"])
    with pytest.raises(OptionError, match="'contact_motion_swing'; did you mean 'contact_motion"):
        rbdgen.build(biped(), functions=["contact_motion_swing"])
    standing = biped(base="fixed")
    with pytest.raises(OptionError, match="'contact_rnea' needs a floating base with joints, which"):
        rbdgen.build(standing, functions=["contact_rnea"])
    held = biped(sets={"swing": ["hand"]})
    assert "contact_rnea_least" in rows_of(held.model)
    assert "contact_rnea_least_swing" not in rows_of(held.model)
    with pytest.raises(OptionError, match="needs a floating base with joints on a frame or three"):
        rbdgen.build(held, functions=["contact_rnea_least_swing"])


def test_more_rows_than_freedom_are_told() -> None:
    feet = [Frame(f"{side}{k}", f"{side}_sole") for side in ("left", "right") for k in range(2)]
    (warning,) = (text for text in biped(feet).warnings if "contacts" in text)
    assert warning == (
        "contacts have 24 rows, the robot has 14 degrees of freedom: not all rows are independent; give mu > "
        "0 where all of them are active, such as 1e-8"
    )
    assert not any("contacts" in text for text in biped().warnings)


def test_functions_of_a_set_are_those_of_a_robot_with_its_contacts_alone() -> None:
    """They are equal bit for bit, in the order of the set, in every form of every function."""
    both, alone = biped(sets={"swing": ["bar", "sole"]}).model, biped([BAR, SOLE]).model
    listed = {name for name, row in rows_of(alone).items() if row.of_contacts}
    assert {name for name in rows_of(both) if name.endswith("_swing")} == {f"{x}_swing" for x in listed}
    for name in sorted({*listed, *OF_CONTACTS}):
        plain = lookup(name, alone)
        row = lookup(f"{name}_swing", both)
        inputs = random_inputs(alone, plain.signature, 1)
        assert [x.shape for x in row.sized(both).inputs] == [x.shape for x in plain.sized(alone).inputs]
        assert row.estimate(both) == plain.estimate(alone)
        for ours, theirs in zip(row.forms, plain.forms, strict=True):
            found = run_on_floats(FunctionForm(row, ours), both, inputs)
            for x, y in zip(found, run_on_floats(FunctionForm(plain, theirs), alone, inputs), strict=True):
                np.testing.assert_array_equal(x, y)
            if ours.loops is not None:
                subjects = (both, row, ours), (alone, plain, theirs)
                programs = [trace_program(reduce(robot), *of, "graph") for robot, *of in subjects]
                assert programs[0] == programs[1]


def test_other_points_and_other_sets_are_other_designs() -> None:
    """The key in the cache of designs depends on the contacts, their sets, and the plan of the solver."""
    robots = [
        biped(),
        biped([SOLE, Point("hand", "hand"), BAR]),
        biped([SOLE, Frame("hand", "hand", (0.1, 0, 0.2)), BAR]),
        biped([Sole("sole", "left_sole", (0.2, 0.1)), HAND, BAR]),
        biped([Sole("sole", "left_sole", (0.1, 0.2)), HAND, BAR]),
        biped(sets={"swing": ["hand"]}),
        biped(sets={"swing": ["hand", "bar"]}),
    ]
    robots.append(
        rbdgen.load_robot(legs(), base="floating", contacts=[SOLE, HAND, BAR], contact_solver=(3, 3, 0))
    )
    facts = {repr(facts_of(Request(robot, Options()))) for robot in robots}
    assert len(facts) == len(robots)


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    """The order of the options is that of the rows, whatever their kinds are."""
    given = ["--contact", "tip=lower:0,0,-1", "--contact-loop", "bar=upper=world:1,2,3:frame"]
    given += ["--contact-frame", "end=lower", "--contact-set", "both=end,tip"]
    given += ["--contact-sole", "foot=lower:0.2,0.1,0,0,-1", "--contact-sole", "upper:0.2,0.1"]
    robot = robot_of(PARSERS["generate"]().parse_args(["double_pendulum", *given]), "double_pendulum")
    contacts = [Point("tip", "lower", (0, 0, -1)), Loop("bar", "upper", (0, 0, 0), "world", (1, 2, 3), True)]
    contacts.append(Frame("end", "lower"))
    contacts += [Sole("foot", "lower", (0.2, 0.1), (0, 0, -1)), Sole("upper", size=(0.2, 0.1))]
    same = rbdgen.load_robot("double_pendulum", contacts=contacts, contact_sets={"both": ["end", "tip"]})
    assert robot.model.contacts == same.model.contacts
    assert robot.model.contact_sets == same.model.contact_sets


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--contact", "tip"], "contact 'tip': there is no link 'tip'"),
        (["--contact", "tip="], "--contact tip=: not of the form [NAME=]LINK[:X,Y,Z[,RADIUS]]"),
        (["--contact-frame", "tip=lower:1,2,3,4"], "a point is three numbers X,Y,Z; there are 4"),
        (["--contact-frame", "tip=lower:1,2"], "a point is three numbers X,Y,Z; there are 2"),
        (["--contact-sole", "tip=lower"], "not of the form [NAME=]LINK:LENGTH,WIDTH[,X,Y,Z]"),
        (["--contact-sole", "tip=lower:0.1"], "a sole is LENGTH,WIDTH or LENGTH,WIDTH,X,Y,Z; there are 1"),
        (
            ["--contact-sole", "tip=lower:0.1,0.2,3"],
            "a sole is LENGTH,WIDTH or LENGTH,WIDTH,X,Y,Z; there are 3",
        ),
        (
            ["--contact-sole", "tip=lower:0.1,-1"],
            "contact 'tip': size (0.1, -1.0) is not a size; give a length",
        ),
        (["--contact-loop", "bar=lower"], "not of the form NAME=LINK[:X,Y,Z]=LINK[:X,Y,Z][:frame]"),
        (["--contact-set", "both"], "--contact-set both: not of the form NAME=CONTACT,CONTACT"),
        (
            ["--contact", "a=lower", "--contact-set", "s=,"],
            "contact set 's': () is not a list of one contact",
        ),
    ],
)
def test_what_the_command_line_refuses(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", "double_pendulum", *given]) == 2
    assert said in capsys.readouterr().err


def test_a_sole_by_its_size_is_one_by_its_corners() -> None:
    """Its point is in the middle; the solver takes a plan of its own, unless another one is given."""
    at = [(0.2, 0.05, 0.3), (0.2, -0.05, 0.3), (0, 0.05, 0.3), (0, -0.05, 0.3)]
    soles = [Sole("hand", size=(0.2, 0.1), point=(0.1, 0, 0.3)), Sole("hand", corners=at)]
    one, other = (biped([sole]).model.contacts[0] for sole in soles)
    points = [[x.first.placement.translation, *x.corners] for x in (one, other)]
    for a, b in zip(*points, strict=True):
        np.testing.assert_allclose(np.array([*a], float), np.array([*b], float), rtol=0, atol=1e-15)
    assert (one.kind, one.rows, one.touching, one.anchored) == ("frame", 6, 4, True)
    moved = biped([Sole("hand", corners=at, point=(0, 0, 0))]).model.contacts[0]
    assert [float(x) for x in moved.corners[0]] == [0.2, 0.05, 0.3]
    assert biped(soles[:1]).model.contact_solver == SOLE_PLAN
    assert biped().model.contact_solver == DEFAULT_PLAN
    asked = rbdgen.load_robot(legs(), base="floating", contacts=soles[:1], contact_solver=(1, 2, 3))
    assert asked.model.contact_solver == (1, 2, 3)


def test_list_and_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--contact-loop", "bar=upper=world:0,0,-1:frame", "--contact", "tip=lower"]
    assert main(["inspect", "double_pendulum", *given, "--contact-set", "one=tip"]) == 0
    printed = capsys.readouterr().out
    assert "contact 0: bar, frame, loop of upper and world, rows 0:6" in printed
    assert "contact 1: tip, point of lower, rows 6:9" in printed
    assert "contact set one: tip" in printed
    assert main(["inspect", "double_pendulum", "--contact-sole", "lower:0.2,0.1"]) == 0
    assert "contact 0: lower, sole with 4 corners of lower, rows 0:6" in capsys.readouterr().out
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert "functions of contacts" in printed
    assert "contact_motion" not in printed


def test_what_a_folder_tells(tmp_path: Path) -> None:
    """Names that are no identifiers of C get unique macros."""
    robot = biped(
        [SOLE, Point("ha-nd", "hand"), Loop("ha nd*/", "hand", (0, 0, 0), "world")],
        {"air": ["ha-nd", "ha nd*/"]},
    )
    folder = rbdgen.generate(robot, tmp_path, functions=["contact_motion_air"], compiled=False, savings=False)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [(x["name"], x["kind"], x["rows"], x["first_row"]) for x in manifest["contacts"]] == [
        ("sole", "frame", 6, 0),
        ("ha-nd", "point", 3, 6),
        ("ha nd*/", "point", 3, 9),
    ]
    assert [end["name"] for end in manifest["contacts"][2]["ends"]] == ["hand", "world"]
    assert manifest["contact_sets"] == {"air": ["ha-nd", "ha nd*/"]}
    header = (folder / "biped.h").read_text()
    assert "#define BIPED_NC 12\n#define BIPED_NCONTACTS 3\n" in header
    assert "#define BIPED_CONTACT_SOLE 0 /* sole: frame of left_sole */\n#define BIPED_ROW_SOLE 0\n" in header
    assert [int(row) for row in re.findall(r"#define BIPED_ROW_\w+ (\d+)\n", header)] == [0, 6, 9]
    assert "biped_contact_motion_air(" in header
    assert header.count("*/") == header.count("/*")
    page = (folder / "README.md").read_text()
    assert "| sole | 0 | 0 to 5 | frame of left_sole |" in page
    assert "Functions whose name ends in `_air` only include the contacts ha-nd, " in page


def test_a_folder_is_checked(tmp_path: Path) -> None:
    """The checks of a compiled folder compare the functions of sets with Pinocchio and by identities."""
    held = [
        Point("tip", "lower", (0, 0, -1)),
        Frame("end", "lower"),
        Loop("bar", "lower", (1, 0, 0), "world"),
    ]
    robot = rbdgen.load_robot("double_pendulum", contacts=held, contact_sets={"two": ["bar", "end"]})
    names = ["contact_motion", "contact_motion_two", "contact_jacobian_two"]
    folder = rbdgen.generate(robot, tmp_path, functions=names)
    findings = {finding.what: finding.passed for finding in check(folder)}
    assert [what for what, passed in findings.items() if not passed] == ["J v = velocity of contacts"]
    assert findings["J v = velocity of contacts"] is None  # needs the Jacobian of all
    assert findings["J v = velocity of contacts, two"]
    assert findings["contact_motion_two = Pinocchio's"]
    library = rbdgen.load(folder)
    assert library.contacts == ("tip", "end", "bar")
    state = library.random(1), np.array([0.3, -0.2])
    whole, two = library.contact_motion(*state), library.contact_motion_two(*state)
    np.testing.assert_array_equal(two.drift, whole.drift[[9, 10, 11, *range(3, 9)]])


def test_what_is_generated_by_default() -> None:
    given = PARSERS["generate"]().parse_args(["double_pendulum", "--contact", "tip=lower"])
    more = {"contact_aba", "contact_jacobian", "contact_motion"}
    assert {*Options().functions, *more} == set(options_of(given).functions)


def test_patterns_stand_for_all_links_that_match(capsys: pytest.CaptureFixture[str]) -> None:
    """Contacts are in the order of the description and named like links, also on the command line."""
    shanks = [f"{end}_{side}_shank" for end in ("front", "hind") for side in ("left", "right")]
    for contacts in ([Point("*_shank")], ["*_shank"], "*_shank", shanks, [Point(x, x) for x in shanks]):
        robot = rbdgen.load_robot("quadruped12", base="floating", contacts=contacts)
        assert [(one.name, one.kind, one.first.name) for one in robot.model.contacts] == [
            (name, "point", name) for name in shanks
        ]
    robot = rbdgen.load_robot(
        "quadruped12", contacts=[Frame("front*shank", point=(0, 0, -0.2)), "lh=hind_l*k"]
    )
    first, second, third = robot.model.contacts
    assert (first.name, second.name, first.kind) == (shanks[0], shanks[1], "frame")
    assert float(first.first.placement.translation.z) == -0.2
    assert (third.name, third.first.name) == ("lh", shanks[2])
    given = ["--contact", "*_shank:0,0,-0.2", "--contact-set", f"trot={shanks[0]},{shanks[3]}"]
    assert main(["inspect", "quadruped12", *given]) == 0
    printed = capsys.readouterr().out
    assert "contact 3: hind_right_shank, point of hind_right_shank, rows 9:12" in printed


def test_a_link_whose_name_cannot_be_a_contacts() -> None:
    robot = rbdgen.RobotBuilder("r").add_body("ground")
    robot.add_body("a:b", parent="ground", type="revolute", axis=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    with pytest.raises(
        ModelError, match=r"contact 'a\*': link 'a:b' has , = or : in its name; give the contact"
    ):
        rbdgen.load_robot(robot, contacts=["a*"])
    assert rbdgen.load_robot(robot, contacts=["a=a*"]).model.contacts[0].name == "a"
