"""Pages of robots in a real browser, offline: what they draw and compute, and how they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.browser import browsers, needs_browser, opened
from support.few import few
from support.standing import STANDING, quadruped

import rbdgen
from rbdgen import Capsule, Point, RobotBuilder, Sole
from rbdgen.errors import BuildError
from rbdgen.model.robot import Robot

pytestmark = needs_browser

SOLID: Mapping[str, Any] = {"mass": 1.3, "com": (0.1, 0.02, -0.03), "inertia": (0.05, 0.06, 0.07)}


def arm() -> Robot:
    return rbdgen.load_robot("arm7")


def kinds() -> Robot:
    """Joints of many types, and one that follows another."""
    built = RobotBuilder("kinds").add_body("trunk", **SOLID)
    built.add_body("thigh", parent="trunk", type="revolute", axis=(0, 1, 0), xyz=(0, 0.1, -0.1), **SOLID)
    built.add_body("plate", parent="thigh", type="planar", **SOLID)
    built.add_body("slider", parent="trunk", type="prismatic", axis=(1, 0, 0), **SOLID)
    built.add_body("ball", parent="trunk", type="spherical", xyz=(0.1, 0, 0.2), **SOLID)
    built.add_body("nut", parent="ball", type="helical", pitch=0.1, axis=(0, 1, 0), **SOLID)
    mimic = ("thigh_joint", 0.5, 0.2)
    built.add_body("finger", parent="plate", type="revolute", axis=(1, 0, 0), mimic=mimic, **SOLID)
    return rbdgen.load_robot(built)


def linkage() -> Robot:
    """A planar four-bar linkage."""
    bar: dict[str, Any] = {"type": "revolute", "axis": (0, 1, 0), **SOLID}
    built = RobotBuilder("linkage").add_body("ground", **SOLID)
    built.add_body("crank", parent="ground", xyz=(0, 0, -0.1), **bar)
    built.add_body("coupler", parent="crank", xyz=(0, 0, -0.3), **bar)
    built.add_body("rocker", parent="ground", xyz=(0.4, 0, -0.1), **bar)
    built.add_body("one", parent="coupler", type="fixed", xyz=(0.4, 0, 0))
    built.add_body("other", parent="rocker", type="fixed", xyz=(0, 0, -0.3))
    return rbdgen.load_robot(built, loops=["one=other:point"])


def stool() -> Robot:
    """A body with an arm of two joints, on a sole and on a point beside it."""
    built = RobotBuilder("stool").add_body("trunk", mass=3, inertia=(0.04, 0.04, 0.04))
    built.add_body("arm", parent="trunk", type="revolute", axis=(0, 1, 0), xyz=(0, 0, 0.1), **SOLID)
    built.add_body("hand", parent="arm", type="revolute", axis=(1, 0, 0), xyz=(0, 0, 0.1), **SOLID)
    held = [Point("toe", "trunk", (0.4, 0, -0.2)), Sole("sole", "trunk", (0.4, 0.3), (-0.05, 0, -0.2))]
    return rbdgen.load_robot(built, base="floating", contacts=held)


def reaching() -> Robot:
    """An arm of two links whose capsules can meet, and a sphere that is not there."""
    rod = Capsule(0.05, 0.4, xyz=(0, 0, 0.2))
    hinge: dict[str, Any] = {"type": "revolute", "axis": (0, 1, 0), "collision": rod, **SOLID}
    built = RobotBuilder("reaching").add_body("base", collision=Capsule(0.1, 0.3))
    built.add_body("upper", parent="base", xyz=(0, 0, 0.35), **hinge)
    built.add_body("fore", parent="upper", xyz=(0, 0, 0.55), **hinge)
    return rbdgen.load_robot(built, pairs="all", obstacles="spheres=1")


ON_THE_FLOOR = (quadruped, stool)

ROBOTS = {maker.__name__: maker for maker in (arm, kinds, linkage, *ON_THE_FLOOR)}


@pytest.fixture(scope="module")
def launch() -> Iterator[Callable[..., Any]]:
    with browsers() as launch:
        yield launch


@pytest.fixture(scope="module")
def chromium(launch: Callable[..., Any]) -> Any:
    return launch()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, maker in ROBOTS.items():
        page = maker().show(pose=STANDING if name == "quadruped" else {})
        assert page.missing == ()
        made[name] = page.save(folder / f"{name}.html")
    return made


@pytest.mark.parametrize("name", few(["kinds", "linkage"], ROBOTS))
def test_a_page_draws_moves_and_keeps_energy(name: str, pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages[name]) as page:
        values = page.tab.locator("#joints .value")
        before = values.all_text_contents()
        page.tab.locator("#joints input").nth(1).focus()
        for _ in range(40):
            page.tab.keyboard.press("ArrowRight")
        assert values.all_text_contents()[1] != before[1]
        assert len(page.tab.locator("#canvas").screenshot()) > 15_000, "the picture is empty"
        page.run("for (const m of ['free', 'hold', 'free']) rbdgenShow.setMode(m)")
        changes = page.run(
            "Array.from({length: 500}, () => { rbdgenShow.step(1e-3); rbdgenShow.note();"
            "return rbdgenShow.log.change.at(-1); })"
        )
        if ROBOTS[name] in ON_THE_FLOOR:
            assert max(changes) < 0.05, "contacts and steps add energy"
        else:
            assert np.abs(changes).max() < (1e-2 if name == "linkage" else 1e-6)
        assert np.isfinite(page.run("[...rbdgenShow.q]")).all()
        assert page.errors == []
        assert page.requests == []


def test_corners_of_a_sole_stand_on_the_floor(pages: Mapping[str, Path], chromium: Any) -> None:
    """Every point has its place and its force: together they carry the weight."""
    with opened(chromium, pages["stool"]) as page:
        points = page.run("rbdgenShow.feet.map((foot) => foot.arm)")
        found = page.run(
            "(() => { rbdgenShow.setMode('hold'); for (let k = 0; k < 3000; k++) rbdgenShow.step(1e-3);"
            "return { forces: [...rbdgenShow.forces], q: [...rbdgenShow.q] }; })()"
        )
        assert page.errors == []
    corners = [(0.2, 0.15, 0), (0.2, -0.15, 0), (-0.2, 0.15, 0), (-0.2, -0.15, 0)]
    np.testing.assert_allclose(points, [(0, 0, 0), *corners], rtol=0, atol=1e-15)
    forces = np.reshape(found["forces"], (5, 3))
    weight = 9.81 * (3 + 2 * SOLID["mass"])
    np.testing.assert_allclose(forces.sum(0), [0, 0, weight], rtol=0, atol=1e-2 * weight)
    assert (forces[:, 2] > 0).sum() >= 3
    assert found["q"][2] == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize("name", few(["kinds", "linkage"], ROBOTS))
def test_bodies_are_drawn_where_they_are(name: str, pages: Mapping[str, Path], chromium: Any) -> None:
    """The matrices of the nodes against placements that the compiled library computes."""
    robot = ROBOTS[name]()
    links = {a.body: a.link for a in robot.attachments if not a.merged and a.body >= 0}
    seen = replaced_frames(robot, [links[k] for k in sorted(links)])
    library = rbdgen.build(seen, functions=["frame_placement"])
    with opened(chromium, pages[name]) as page:
        page.run("rbdgenShow.coordinates.forEach((c, k) => rbdgenShow.move(c, 0.1 + 0.05 * k, rbdgenShow.q))")
        page.run("rbdgenShow.refresh()")
        q = np.array(page.run("[...rbdgenShow.q]"))
        found = np.array(page.run("rbdgenShow.nodes.map((node) => [...node.matrix.elements])"))
    R, p = library.frame_placement(q)
    matrices = found[sorted(links)].reshape(-1, 4, 4).transpose(0, 2, 1)
    assert np.abs(matrices[:, :3, :3] - R).max() < 1e-12
    assert np.abs(matrices[:, :3, 3] - p).max() < 1e-12


def test_distances_follow_the_sliders(chromium: Any, tmp_path: Path) -> None:
    """Distances and nearest points are those of the compiled library, in the picture and in the table."""
    robot = reaching()
    library = rbdgen.build(robot, functions=["distances", "distance_witness"], target="portable")
    names = library.manifest["distance_pairs"]["pairs"]
    assert names[:3] == ["base/0~upper/0", "base/0~fore/0", "upper/0~fore/0"]
    file = robot.show(pose={"upper_joint": 0.9}).save(tmp_path / "page.html")
    with opened(chromium, file, "dark") as page:
        assert page.run("rbdgenShow.segments.filter((each) => each.group.visible).length") == 3, (
            "the sphere is not there"
        )
        before = page.run("rbdgenShow.measured(rbdgenShow.q)")
        assert min(each["distance"] for each in before) > 0.04
        canvas = page.tab.locator("#canvas")
        page.tab.locator("#joints input").nth(1).focus()
        page.tab.keyboard.press("End")
        for _ in range(40):
            page.tab.keyboard.press("ArrowLeft")
        q = np.array(page.run("[...rbdgenShow.q]"))
        assert 2.9 < q[1] < 3.1
        distances, (points, _) = library.distances(q), library.distance_witness(q)
        found = {each["name"]: each for each in page.run("rbdgenShow.measured(rbdgenShow.q)")}
        assert list(found) == sorted(names[:3], key=lambda name: distances[names.index(name)])
        for name, each in found.items():
            assert np.array_equal(each["ends"], points[names.index(name)])
            assert each["distance"] == pytest.approx(distances[names.index(name)], abs=1e-14)
        drawn = page.run(
            "rbdgenShow.segments.slice(0, 3).map(({stem, balls, look}) => ({"
            "ends: balls.map((ball) => ball.position.toArray()), middle: stem.position.toArray(),"
            " length: stem.scale.y, hue: look.color.getHexString()}))"
        )
        for segment, each in zip(drawn, found.values(), strict=True):
            np.testing.assert_allclose(segment["ends"], each["ends"], rtol=0, atol=1e-15)
            np.testing.assert_allclose(segment["middle"], np.mean(each["ends"], axis=0), rtol=0, atol=1e-15)
            assert segment["length"] == pytest.approx(
                np.linalg.norm(np.diff(each["ends"], axis=0)), abs=1e-12
            )
        rows = page.run(
            "[...document.querySelectorAll('#pairs tr')].filter((row) => !row.hidden)"
            ".map((row) => [row.querySelector('b').textContent, row.querySelector('span').textContent,"
            " row.cells[1].textContent])"
        )
        shown = [(name.replace("  ", ""), text.replace("−", "-")) for _, name, text in rows]
        assert shown == [(name, f"{1000 * each['distance']:.1f} mm") for name, each in found.items()]
        marks = [row[0] for row in rows]
        assert marks[0] == "▲", "the links overlap"
        assert drawn[0]["hue"] == "d55e00"
        assert marks == sorted(marks, key="▲◆●".index)
        assert next(iter(found)) in page.tab.locator("#nearest").inner_text()
        with_distances = canvas.screenshot()
        page.tab.get_by_role("button", name="distances").click()
        page.tab.wait_for_timeout(300)
        assert canvas.screenshot() != with_distances
        assert page.run(POOR_CONTRAST) == {}
        page.tab.locator("#theme").click()
        assert page.run(POOR_CONTRAST) == {}
        page.tab.set_viewport_size({"width": 390, "height": 900})
        page.tab.wait_for_timeout(100)
        assert page.run("document.documentElement.scrollWidth - innerWidth") <= 0
        assert (page.errors, page.requests) == ([], [])


def test_pages_without_pairs_say_nothing_of_distances(pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages["kinds"]) as page:
        assert page.tab.locator("#distances, #nearest, #nav-distances").count() == 0


def replaced_frames(robot: Robot, names: list[str]) -> Robot:
    frames = tuple(robot.known_frames[name] for name in names)
    return replace(robot, model=replace(robot.model, frames=frames))


@pytest.mark.parametrize("language", ["WebAssembly", "JavaScript"])
def test_the_numbers_are_those_of_the_compiled_library(
    language: str,
    pages: Mapping[str, Path],
    chromium: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both languages and gcc give the same bits, at random states."""
    robot = arm()
    page = pages["arm"]
    names = ["rnea", "aba", "crba", "minv"]
    library = rbdgen.build(robot, functions=names, target="portable")
    if language == "JavaScript":
        monkeypatch.setattr("rbdgen.show.page.find_tools", no_tools)
        page = robot.show().save(tmp_path / "page.html")
    rng = np.random.default_rng(0)
    states = rng.uniform(-2, 2, (50, 4, robot.nv))
    with opened(chromium, page) as seen:
        assert seen.run("rbdgenShow.data.engine") == language
        script = """(states) => states.map(([q, v, a, tau]) => ["rnea", "aba", "crba", "minv"].map(
            (name) => [...Object.values(rbdgenShow.call(name, {q, v, a, tau}))[0]]))"""
        found = seen.tab.evaluate(script, states.tolist())
        assert seen.errors == []
        assert seen.requests == []
    for (q, v, a, tau), (rnea, aba, crba, minv) in zip(states, found, strict=True):
        assert np.array_equal(library.rnea(q, v, a), rnea)
        assert np.array_equal(library.aba(q, v, tau), aba)
        assert np.array_equal(library.crba(q).ravel(), crba)
        assert np.array_equal(library.minv(q).ravel(), minv)


def no_tools() -> Any:
    raise BuildError("clang is not installed")


def test_units_are_those_of_the_joints(pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages["kinds"]) as page:
        units = dict(page.run("rbdgenShow.coordinates.map(({name, unit}) => [name, unit])"))
        shown = page.tab.locator("#joints .joint").all_text_contents()
    assert units["slider_joint"] == "m"
    assert units["thigh_joint"] == "rad"
    assert [units[f"plate_joint.{k}"] for k in range(3)] == ["m", "m", "rad"]
    (row,) = (text for text in shown if text.startswith("slider_joint"))
    assert row.endswith(" N")


def test_feet_hold_the_robot(pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages["quadruped"]) as page:
        height = page.run("rbdgenShow.q[2]")
        page.run("rbdgenShow.setMode('hold'); for (let k = 0; k < 1000; k++) rbdgenShow.step(1e-3)")
        assert abs(page.run("rbdgenShow.q[2]") - height) < 0.03
        page.run("rbdgenShow.setMode('free'); for (let k = 0; k < 400; k++) rbdgenShow.step(1e-3)")
        assert page.run("rbdgenShow.q[2]") < height - 0.1


def test_loops_stay_closed(pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages["linkage"]) as page:
        page.tab.locator("#joints input").first.focus()
        for _ in range(60):
            page.tab.keyboard.press("ArrowLeft")
        assert np.abs(page.run("rbdgenShow.openings(rbdgenShow.q)")).max() < 1e-10
        assert abs(page.run("rbdgenShow.q[0]")) > 0.1
        page.run("rbdgenShow.setMode('free'); for (let k = 0; k < 300; k++) rbdgenShow.step(1e-3)")
        assert np.abs(page.run("rbdgenShow.openings(rbdgenShow.q)")).max() < 1e-10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read_at_every_width(scheme: str, pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages["quadruped"], scheme) as page:
        assert page.run("rbdgenShow.scheme()") == scheme
        assert page.run(POOR_CONTRAST) == {}
        for width in (1440, 1024, 390):
            page.tab.set_viewport_size({"width": width, "height": 900})
            page.tab.wait_for_timeout(100)
            assert page.run("document.documentElement.scrollWidth - innerWidth") <= 0, width
            assert page.run(WITHIN_THE_PICTURE), width
        page.tab.locator("#theme").click()
        assert page.run("rbdgenShow.scheme()") != scheme
        assert page.errors == []


def test_every_control_can_be_reached_by_keys(pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages["arm"]) as page:
        unnamed = page.run(
            "[...document.querySelectorAll('button, input, canvas')].filter((e) => !(e.ariaLabel"
            " || e.getAttribute('aria-label') || e.textContent.trim())).length"
        )
        assert unnamed == 0
        page.tab.keyboard.press("Tab")
        reached = set()
        for _ in range(60):
            reached.add(page.run("document.activeElement.id || document.activeElement.type || ''"))
            page.tab.keyboard.press("Tab")
        assert {"theme", "canvas", "button", "range", "reset"} <= reached


def test_without_webgl_all_else_works(pages: Mapping[str, Path], launch: Callable[..., Any]) -> None:
    with opened(launch("--disable-3d-apis"), pages["arm"]) as page:
        assert page.tab.locator(".no-webgl").count() == 1
        before = page.tab.locator("#joints .value").all_text_contents()
        page.tab.locator("#joints input").nth(1).focus()
        page.tab.keyboard.press("ArrowRight")
        assert page.tab.locator("#joints .value").all_text_contents() != before


def test_lines_of_c_and_of_the_algorithm_mark_each_other(pages: Mapping[str, Path], chromium: Any) -> None:
    with opened(chromium, pages["arm"]) as page:
        line = page.tab.locator("#c div[data-at]").nth(40)
        line.scroll_into_view_if_needed()
        line.hover()
        marked = page.tab.locator("#algorithm .hit")
        assert marked.count() == 1
        number = page.run(
            "[...document.querySelectorAll('#algorithm span')].findIndex((e) => e.matches('.hit'))"
        )
        assert line.get_attribute("data-at") == str(number)
        page.tab.locator("#title").hover()
        assert marked.count() == 0
        page.tab.locator("#algorithm span").nth(number).hover()
        hits = page.run("[...document.querySelectorAll('#c .hit')].map((line) => line.dataset.at)")
        assert hits
        assert set(hits) == {str(number)}
        page.tab.locator("#labels button").first.click()
        assert page.tab.locator("#algorithm .hit").count() >= 1
        assert page.errors == []


def test_a_hostile_name_is_shown_as_text(tmp_path: Path, chromium: Any) -> None:
    name = "</script><script>window.broken = 1</script>&quot;'`${1}"
    built = RobotBuilder("hostile").add_body(name, **SOLID)
    image = "<img src=x onerror=window.broken=1>"
    built.add_body(image, parent=name, type="revolute", axis=(0, 1, 0), **SOLID)
    page = rbdgen.load_robot(built).show().save(tmp_path / "page.html")
    with opened(chromium, page) as seen:
        assert seen.run("window.broken ?? 0") == 0
        assert "<img src=x" in seen.tab.locator("#bodies").inner_text()
        assert seen.errors == []


WITHIN_THE_PICTURE = """() => {
  const { boxAt, q, camera } = rbdgenShow, { min, max } = boxAt(q);
  camera.updateMatrixWorld(true);
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => min.clone().set(
    (k & 1 ? max : min).x, (k & 2 ? max : min).y, (k & 4 ? max : min).z));
  const places = corners.map((corner) => corner.project(camera));
  return places.every(({ x, y }) => Math.max(Math.abs(x), Math.abs(y)) <= 1);
}"""

POOR_CONTRAST = """() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map(Number)
      .map((x) => x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if (color.startsWith("rgb(")) return color;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  const poor = {};
  for (const element of document.querySelectorAll("main *, header *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!hasText || !element.getClientRects().length || element.closest("svg")) continue;
    const style = getComputedStyle(element), a = luminance(style.color), b = luminance(behind(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const least = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
    if (ratio < least) poor[element.className || element.tagName] = ratio;
  }
  return poor;
}"""
