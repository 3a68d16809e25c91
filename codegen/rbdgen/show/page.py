"""Makes the page of a robot: one HTML file that shows it, and that runs its generated C without a network.

robot -> functions -> C -> WebAssembly
      -> shapes                         -> data -> HTML
      -> quantities of the lines of C
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
import re
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from rbdgen.description.quoting import quoted, told
from rbdgen.emit.package import Sources
from rbdgen.emit.write import write_file
from rbdgen.errors import BuildError, OptionError
from rbdgen.functions.friction.mobility import neutral
from rbdgen.functions.table import lookup
from rbdgen.model.model import Body
from rbdgen.model.robot import Robot
from rbdgen.options import Options
from rbdgen.pipeline.page import designed
from rbdgen.pipeline.progress import Progress, silent
from rbdgen.pipeline.request import Request
from rbdgen.resources import template_root
from rbdgen.show.algorithm import Algorithm, algorithm_of
from rbdgen.show.costs import Costs, costs_of
from rbdgen.show.data import Code, PageData
from rbdgen.show.ellipsoid import ellipsoid_of
from rbdgen.show.plausible import doubts
from rbdgen.show.provenance import owners
from rbdgen.show.scene import Scene
from rbdgen.show.shapes import BUDGET, Drawn, drawn
from rbdgen.show.viewed import functions_of, viewed
from rbdgen.toolchain.cache import user_cache
from rbdgen.toolchain.webassembly import find_tools, linked
from rbdgen.wording import choose

SHOWN_AS_C: Final = ("rnea", "gravity", "aba", "crba", "minv")
"""The functions whose C is shown, besides those that are asked for."""

MOST_CODE: Final = 400_000
"""The largest number of bytes in the page of the C that nobody asked for, so that pages stay below 2 MB."""

MOST_EQUATIONS: Final = 3
"""The largest number of degrees of freedom of robots whose equations are shown."""

HEIGHT: Final = 720
"""The height of the page inside another page, such as a notebook, in pixels."""


class Start(NamedTuple):
    """The configuration at the beginning: all of it, or the positions of some joints."""

    q: list[float] | None
    pose: dict[str, float]


@dataclass(frozen=True)
class Page:
    """The page of a robot, one HTML file that needs no network and no server."""

    text: str
    missing: tuple[str, ...]
    """One line for everything that the page does not show."""

    def save(self, path: str | Path) -> Path:
        """Writes the page into a file and returns its path. Raises EmitError if it cannot be written."""
        write_file(Path(path), self.text)
        return Path(path)

    def open(self) -> None:
        """Opens the page in the browser of this machine, from a temporary file that stays."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(self.text)
        webbrowser.open(Path(file.name).as_uri())

    def _repr_html_(self) -> str:
        """The page in a frame of its own, as notebooks show it."""
        return (
            f'<iframe srcdoc="{html.escape(self.text)}" style="width:100%;height:{HEIGHT}px;border:0" '
            'sandbox="allow-scripts" title="robot"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Page of {len(self.text) // 1000} kB; save(PATH) writes it>"


def page_of(
    robot: Robot,
    *,
    q: Any = None,
    pose: Mapping[str, float] | None = None,
    functions: Sequence[str] = (),
    triangles: int = BUDGET,
    shapes: bool = True,
    all: bool = False,
    figures: bool = False,
    progress: Progress = silent,
) -> Page:
    """Makes the page of a robot. The same robot and options give the same bytes.

    Args:
        robot: the robot.
        q: the configuration at the beginning, (nq,), rad and m.
        pose: the positions of some joints instead, rad or m; the others are at 0 or at the nearer limit.
        functions: functions whose C and cost the page shows besides those that it needs.
        triangles: the number of triangles to keep of all meshes together.
        shapes: whether the shapes of the description are drawn; without them, a skeleton is.
        all: whether the costs of all other functions of the robot are shown as well.
        figures: whether flash and stack of a Cortex-M4F are measured, which needs arm-none-eabi-gcc.
        progress: is told what is designed.

    Raises:
        OptionError: an unknown function or joint, or a value that is no configuration.
    """
    seen = viewed(robot)
    start = _start(robot, q, pose or {})
    options = Options(functions=functions_of(seen, functions), target="portable", emit=("javascript",))
    sources = designed(Request(seen, options, package=False), user_cache(), progress)
    costs = costs_of(seen, sources, every=all, figures=figures, progress=progress)
    scene = Scene(robot)
    shown = drawn(robot, triangles=triangles, shapes=shapes, scene=scene)
    doubted = doubts(scene) if shapes else {}
    engine, program, missing = _program(sources)
    code, too_long = _shown_code(dict(_code(seen, sources, [*SHOWN_AS_C, *functions])), functions)
    missing += [*shown.missing, *costs.missing, *too_long]
    data = _data(robot, seen, sources, shown, start, engine, missing, doubted, code, costs)
    return Page(_html(data, program, shown.blob), tuple(data.missing))


def _start(robot: Robot, q: Any, asked: Mapping[str, float]) -> Start:
    """The configuration at the beginning, if it is given, and the positions of joints with one coordinate."""
    if q is not None and asked:
        raise OptionError("show: q and pose both say how the robot begins; give one of them")
    if q is not None:
        return Start(_configuration(robot, q), {})
    known = [joint.name for joint in robot.joints if joint.nq == 1]
    for name, value in asked.items():
        if name not in known:
            raise OptionError(f"pose: {quoted(name)} is no joint with one coordinate; {choose(name, known)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise OptionError(f"pose: {told(value)} is no position of {quoted(name)}; give rad or m")
    return Start(None, {name: float(value) for name, value in asked.items()})


def _configuration(robot: Robot, q: Any) -> list[float]:
    try:
        values = np.asarray(q, float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (robot.nq,) or not np.isfinite(values).all():
        raise OptionError(f"show: q is no configuration of this robot; give {robot.nq} finite numbers")
    return [float(x) for x in values]


def _program(sources: Sources) -> tuple[str, bytes, list[str]]:
    """The functions for a browser: the language, the program, and a line if there is no compiler.

    WebAssembly is faster than JavaScript; both give the same bits.
    """
    try:
        return "WebAssembly", linked(sources, find_tools(), user_cache()).data, []
    except BuildError as error:
        module = sources.files[f"javascript/{sources.name}.mjs"]
        return "JavaScript", module.encode(), [f"{error}; without it the page computes in JavaScript"]


def _data(
    robot: Robot,
    seen: Robot,
    sources: Sources,
    shown: Drawn,
    start: Start,
    engine: str,
    missing: Sequence[str],
    doubted: Mapping[int, Sequence[str]],
    code: Mapping[str, Code],
    costs: Costs,
) -> PageData:
    manifest = sources.manifest
    return PageData(
        title=robot.name,
        source="" if robot.description.file is None else Path(robot.description.path).name,
        manifest=manifest,
        engine=engine,
        ellipsoids=[_ellipsoid(body) for body in robot.model.bodies],
        neutral=[float(x) for x in neutral(seen.model)],
        radii={contact.name: contact.radius for contact in seen.model.contacts},
        frames=_frames_of(manifest),
        costs=costs.others,
        figures=costs.figures,
        code=code,
        links=shown.links,
        meshes=shown.meshes,
        triangles=shown.triangles,
        missing=_without_folder(robot, missing),
        warnings=_without_folder(robot, robot.warnings),
        doubts=doubted,
        q=start.q,
        pose=start.pose,
        equations=_equations(robot),
    )


def _without_folder(robot: Robot, lines: Sequence[str]) -> list[str]:
    """Lines about the robot with the name of its file alone, as its folder is that of another machine."""
    path = robot.description.path
    return [line.replace(path, Path(path).name) for line in lines] if robot.description.file else list(lines)


def _ellipsoid(body: Body) -> dict[str, Any] | None:
    found = ellipsoid_of(body.inertia)
    return None if found is None else {name: value.tolist() for name, value in vars(found).items()}


def _frames_of(manifest: Mapping[str, Any]) -> list[int]:
    """For every body the index of the frame that coincides with it; -1 if there is none."""
    found = [-1] * len(manifest["bodies"])
    for k, frame in enumerate(manifest.get("frames", ())):
        at_body = frame["translation"] == [0, 0, 0] and frame["rotation"] == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        if at_body and frame["body"] >= 0 and found[frame["body"]] < 0:
            found[frame["body"]] = k
    return found


def _code(robot: Robot, sources: Sources, names: Sequence[str]) -> Iterator[tuple[str, Code]]:
    for name in dict.fromkeys(names):
        facts = sources.manifest["functions"].get(name)
        if facts is None:
            continue
        row = lookup(name, robot.model)
        form = next((form for form in row.forms if form.name == facts["form"]), None)
        algorithm = Algorithm()
        if form is not None and not row.differentiated:
            algorithm = algorithm_of(robot.model, row, form)
        yield name, Code(owners(sources.files[facts["source"]], algorithm.line), algorithm.text)


def _shown_code(found: Mapping[str, Code], asked: Sequence[str]) -> tuple[dict[str, Code], list[str]]:
    """The C that the page shows, and a line about functions that nobody asked for and whose C is too long."""
    shown, left_out, size = dict[str, Code](), list[str](), 0
    for name, code in found.items():
        own = 0 if name in asked else len(_packed(json.dumps(asdict(code)).encode()))
        if size + own > MOST_CODE:
            left_out.append(name)
        else:
            shown[name] = code
            size += own
    if not left_out:
        return shown, []
    return shown, [f"the C of {', '.join(left_out)} is too long for a page; -f shows that of a function"]


def _equations(robot: Robot) -> str:
    """The equations of a robot with few degrees of freedom, as HTML without a frame."""
    if robot.nv > MOST_EQUATIONS or robot.base == "floating" or robot.nq != robot.nv:
        return ""
    from rbdgen.formulas.equations import equations_of  # noqa: PLC0415  (SymPy is imported late)

    try:
        text = equations_of(robot).html()
    except OptionError:  # features of the robot that equations do not describe
        return ""
    body = re.search(r"<body>(.*)</body>", text, re.DOTALL)
    return "" if body is None else re.sub(r"<h1>.*?</h1>", "", body[1], flags=re.DOTALL)


def _html(data: PageData, program: bytes, blob: bytes) -> str:
    """The page. Text of the description is inside of compressed data only, besides the escaped title."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    root = template_root() / "show"
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(root.glob("vendor/*"))}
    app = [path.read_text(encoding="utf-8") for path in sorted(root.glob("app/*.js"))]
    text = json.dumps(data.as_json(), separators=(",", ":"), allow_nan=False)
    environment = Environment(
        loader=FileSystemLoader(root), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template("page.html.jinja").render(
        title=data.title,
        style=(root / "style.css").read_text(encoding="utf-8"),
        vendor=files,
        app="\n".join(app),
        three=_packed(files["three.js"].encode()),
        data=_packed(text.encode()),
        program=_packed(program),
        meshes=_packed(blob),
    )


def _packed(data: bytes) -> str:
    """The data compressed and as text, without the time of day."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
