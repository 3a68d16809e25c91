"""Pages of robots as files: the same bytes each time, small, without a network, and errors in one line."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.command import rbdgen as run
from support.few import few

import rbdgen
from rbdgen import RobotBuilder
from rbdgen.errors import OptionError
from rbdgen.functions.table import lookup, rows_of
from rbdgen.model.robot import Robot
from rbdgen.options import Options
from rbdgen.pipeline.page import designed
from rbdgen.pipeline.request import Request
from rbdgen.resources import robot_root, template_root
from rbdgen.show.algorithm import algorithm_of
from rbdgen.show.page import SHOWN_AS_C, Page
from rbdgen.show.provenance import owners, statements
from rbdgen.toolchain.cache import user_cache

VENDOR = template_root() / "show" / "vendor"


@pytest.fixture(scope="module")
def pendulum() -> Robot:
    return rbdgen.load_robot("double_pendulum")


def test_the_same_robot_gives_the_same_bytes(pendulum: Robot) -> None:
    one, other = pendulum.show(), pendulum.show()
    assert one.text == other.text
    assert len(one.text) < 2_000_000


def test_a_page_names_no_address_but_a_namespace(pendulum: Robot) -> None:
    addresses = set(re.findall(r"https?://[\w./-]+", pendulum.show().text))
    assert addresses == {
        "http://www.w3.org/2000/svg",
        "https://github.com/leeoniya/uPlot",  # a comment with its licence
    }


def test_bundled_libraries_have_their_sums() -> None:
    sums = [line.split() for line in (VENDOR / "SUMS").read_text().splitlines() if not line.startswith("#")]
    assert {name for _, name in sums} == {"three.js", "uplot.js", "uplot.css"}
    for sum_, name in sums:
        data = (VENDOR / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == sum_, name
        assert b"</script" not in data
    for name in ("three", "uplot"):
        assert "MIT" in (VENDOR / f"{name}.LICENSE").read_text()


def data_of(page: Page) -> dict[str, Any]:
    """The data in a page."""
    packed = re.search(r'id="b-data">([^<]*)<', page.text)
    assert packed is not None
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return found


def hinge() -> Robot:
    """A robot of one joint, of which all functions are small."""
    built = RobotBuilder("hinge").add_body("base")
    solid: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    return rbdgen.load_robot(built.add_body("door", parent="base", type="revolute", axis=(0, 0, 1), **solid))


def test_c_that_is_too_long_is_left_out_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of tiago_dual, with 101 degrees of freedom, would have more than 2 MB with all of its C."""
    robot = hinge()
    names = [*data_of(robot.show())["code"]]
    assert names == list(SHOWN_AS_C)
    monkeypatch.setattr("rbdgen.show.page.MOST_CODE", 0)
    page = robot.show(functions=["minv"])
    assert [*data_of(page)["code"]] == ["minv"]
    assert page.missing == (
        "the C of rnea, gravity, aba, crba is too long for a page; -f shows that of a function",
    )


def test_costs_of_a_small_machine_and_of_all_functions(tmp_path: Path) -> None:
    """Flash and stack are those of a folder for the machine; the functions that run are not counted twice."""
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    robot = hinge()
    page = robot.show(all=True, figures=True)
    assert page.missing == ()
    data = data_of(page)
    run, counted = data["manifest"]["functions"], data["costs"]
    assert not run.keys() & counted.keys()
    assert run.keys() | counted.keys() >= rows_of(robot.model).keys()
    assert all(facts["operations"]["total"] >= 0 and facts["summary"] for facts in counted.values())
    assert data["figures"].keys() == run.keys() | counted.keys()
    names = ["rnea", "regressor"]
    folder = rbdgen.generate(robot, tmp_path, names, target="cortex-m4f", real="float")
    facts = json.loads((folder / "manifest.json").read_text())["functions"]
    for name in names:
        expected = {"flash": facts[name]["object_bytes"], "stack": facts[name]["stack_bytes"]}
        assert data["figures"][name] == expected


def test_pages_have_no_further_costs_unless_asked(pendulum: Robot) -> None:
    data = data_of(pendulum.show())
    assert data["costs"] == data["figures"] == {}


def test_a_page_writes_opens_and_displays_itself(
    pendulum: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = pendulum.show()
    assert page.save(tmp_path / "page.html").read_text() == page.text
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert html.unescape(frame).count(page.text) == 1
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", asked.append)
    page.open()
    (address,) = asked
    path = Path(address.removeprefix("file://"))
    assert path.read_text() == page.text
    path.unlink()


def test_a_library_shows_its_robot(pendulum: Robot) -> None:
    library = rbdgen.build(pendulum, functions=["rnea"])
    assert library.show([0.3, -0.2]).text != pendulum.show().text
    assert library.show([0.3, -0.2]).text == pendulum.show([0.3, -0.2]).text


def test_a_library_from_a_folder_has_no_page(pendulum: Robot, tmp_path: Path) -> None:
    folder = rbdgen.generate(pendulum, tmp_path, functions=["rnea"])
    with pytest.raises(rbdgen.RbdgenError, match=r"lib\.show: a library from a folder has no description"):
        rbdgen.load(folder).show()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"q": [1.0]}, r"q is no configuration of this robot; give 2 finite numbers"),
        ({"q": [float("nan"), 0]}, "q is no configuration"),
        ({"q": "x"}, "q is no configuration"),
        ({"q": [0, 0], "pose": {"shoulder": 1}}, "give one of them"),
        ({"pose": {"wrist": 1}}, "'wrist' is no joint with one coordinate; choose from"),
        ({"pose": {"shoulder": float("inf")}}, "is no position of 'shoulder'; give rad or m"),
        ({"pose": {"shoulder": True}}, "is no position of 'shoulder'"),
        ({"functions": ["nothing"]}, "unknown function 'nothing'"),
        ({"triangles": 0}, "triangles 0 is not a number of triangles"),
    ],
)
def test_bad_options_are_refused(pendulum: Robot, options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        pendulum.show(**options)


def test_without_a_compiler_the_page_still_comes(pendulum: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, *_, **__: None)
    page = pendulum.show()
    (missing,) = page.missing
    assert "clang" in missing
    assert "JavaScript" in missing
    without = "flash and stack of a cortex-m4f are not shown: arm-none-eabi-gcc is not installed; "
    assert pendulum.show(figures=True).missing[-1].startswith(without)


@pytest.mark.parametrize("name", few(["arm7"], ["arm7", "quadruped12"]))
def test_lines_of_c_have_their_quantity_and_their_line(name: str) -> None:
    """At least 99 of 100 statements are beside the line of the algorithm that computes their quantity."""
    robot = rbdgen.load_robot(name, base="floating" if name == "quadruped12" else "fixed")
    options = Options(functions=SHOWN_AS_C, target="portable")
    sources = designed(Request(robot, options, package=False), user_cache())
    for function, facts in sources.manifest["functions"].items():
        row = lookup(function, robot.model)
        form = next(form for form in row.forms if form.name == facts["form"])
        algorithm = algorithm_of(robot.model, row, form)
        lines = owners(sources.files[facts["source"]], algorithm.line)
        assert [line.text for line in lines] == sources.files[facts["source"]].split("\n")
        count, named, placed = statements(lines)
        assert count > 10
        assert min(named, placed) >= 0.99 * count, function
        assert "workspace" not in {line.quantity for line in lines}
        text = algorithm.text.split("\n")
        for line in lines:
            assert line.at is None or text[line.at].strip(), line


def test_lines_of_an_algorithm_are_those_that_compute() -> None:
    """Quantities of inverse dynamics, by hand: where each is computed in the text."""
    model = rbdgen.load_robot("arm7").model
    row = lookup("rnea", model)
    algorithm = algorithm_of(model, row, next(form for form in row.forms if form.name == "newton_euler"))
    text = algorithm.text.split("\n")

    def at(label: str) -> str:
        number = algorithm.line(label)
        assert number is not None
        return text[number].strip()

    assert at("tau[3]") == "force[body.parent] += transforms[i].force_to_parent(force[i])"
    assert at("tau[99]") == at("tau[3]"), "the line of most elements"
    assert algorithm.line("nothing[3]") is None


@pytest.mark.parametrize(
    ("function", "form", "word"),
    [
        ("rnea", "newton_euler", "Newton"),
        ("rnea", "classical", "linear velocities"),
        ("aba", "articulated", "articulated"),
        ("crba", "composite", "composite"),
        ("minv", "recursive", "inverse"),
    ],
)
def test_the_text_of_an_algorithm_is_found(function: str, form: str, word: str) -> None:
    model = rbdgen.load_robot("arm7").model
    row = lookup(function, model)
    text = algorithm_of(model, row, next(each for each in row.forms if each.name == form)).text
    assert word.lower() in text.lower()
    assert "def " in text
    assert "\nimport " not in text
    assert "\nfrom " not in text


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    pose_text = "shoulder=1.9,elbow=0.6"
    done = run("show", "double_pendulum", "--pose", pose_text, "-o", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"wrote {out}\n"
    pose = {"shoulder": 1.9, "elbow": 0.6}
    assert out.read_text() == rbdgen.load_robot("double_pendulum").show(pose=pose).text


def test_the_command_does_not_overwrite_the_robot(tmp_path: Path) -> None:
    robot = tmp_path / "robot.urdf"
    shutil.copy(robot_root() / "double_pendulum.urdf", robot)
    done = run("show", robot, "-o", robot, cwd=tmp_path)
    assert done.returncode == 2
    assert "is the robot itself" in done.stderr
