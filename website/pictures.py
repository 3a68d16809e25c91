"""The pictures of the pages about concepts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import cos, radians, sin
from typing import Final

import rbdgen
from website.counts import PINNED, counts
from website.drawing import BLUE, GREEN, ORANGE, RED, Drawing

TEXTBOOK: Final = PINNED.parent / "operation_counts" / "arm7.txt"


def coordinates() -> Drawing:
    """The elements of q and v of a robot with a floating base."""
    drawing = Drawing("The layout of q and v of a robot with a floating base", 720, 236)
    rows = (
        ("q", 40, (("x y z", 90, BLUE), ("qx qy qz qw", 120, ORANGE), ("joint positions", 330, GREEN))),
        ("v", 150, (("vx vy vz", 90, BLUE), ("wx wy wz", 90, ORANGE), ("joint velocities", 330, GREEN))),
    )
    for name, y, parts in rows:
        drawing.text(24, y + 22, name, 16, bold=True)
        x = 60.0
        for words, width, color in parts:
            drawing.box(x, y, width, 34, color)
            drawing.text(x + width / 2, y + 22, words, anchor="middle")
            x += width
    drawing.text(60, 28, "7 numbers: position and attitude of the base in the world", 12)
    drawing.text(60, 94, "m and a unit quaternion", 12)
    drawing.text(274, 94, "rad or m, in the order of the joints", 12)
    drawing.text(60, 138, "6 numbers: velocity of the base in its own axes, linear before angular", 12)
    drawing.text(60, 204, "m/s, then rad/s", 12)
    drawing.text(244, 204, "rad/s or m/s", 12)
    drawing.text(60, 226, "nq = 7 + joints, nv = 6 + joints", 12, bold=True)
    return drawing


def _axes(drawing: Drawing, x: float, y: float, degrees: float, name: str, length: float = 58) -> None:
    c, s = cos(radians(degrees)), sin(radians(degrees))
    drawing.arrow((x, y), (x + length * c, y - length * s), BLUE)
    drawing.arrow((x, y), (x - length * s, y - length * c), GREEN)
    drawing.dot(x, y, 3.5)
    drawing.text(x + 6, y + 20, name, 12, bold=True)


def conventions() -> Drawing:
    """Where a motion is taken and in which axes, in the three conventions."""
    drawing = Drawing("The three conventions of motions: local, aligned and world", 720, 270)
    told = (
        ("local", "point of the frame,", "axes of the frame", 35, 0),
        ("aligned", "point of the frame,", "axes of the world", 0, 0),
        ("world", "point at the world's origin,", "axes of the world", 0, 1),
    )
    for k, (name, first, second, degrees, at_origin) in enumerate(told):
        left = 20 + 235 * k
        drawing.text(left, 24, name, 16, bold=True)
        drawing.text(left, 44, first, 12)
        drawing.text(left, 60, second, 12)
        origin, tip = (left + 20, 220), (left + 130, 140)
        drawing.line(origin, (left + 60, 160), tip, color="currentColor", width=5)
        drawing.dot(left + 60, 160, 5)
        x, y = origin if at_origin else tip
        drawing.dot(*tip, 5, RED, hollow=True)
        _axes(drawing, x, y, degrees, "", 62)
        drawing.text(origin[0] - 12, 246, "world's origin", 12)
        drawing.text(tip[0] + 10, tip[1] + 22, "frame", 12)
    return drawing


def placement() -> Drawing:
    """The placement of a frame in the world."""
    drawing = Drawing(
        "The placement of a frame: p leads from the world's origin to it, and R turns its axes", 720, 250
    )
    world, elbow, tool = (70, 160), (250, 50), (480, 80)
    drawing.line(world, elbow, tool, width=6)
    drawing.dot(*elbow, 6)
    drawing.arrow((world[0] + 8, world[1] - 2), (tool[0] - 8, tool[1] + 2), RED, dashed=True)
    drawing.text(290, 136, "p: position, m, in world axes", 13)
    _axes(drawing, *world, 0, "world")
    _axes(drawing, *tool, 40, "frame", 66)
    drawing.text(560, 30, "R: its columns are the", 13)
    drawing.text(560, 48, "axes of the frame,", 13)
    drawing.text(560, 66, "in world axes", 13)
    return drawing


def merged() -> Drawing:
    """Links that are fixed to each other become one body."""
    drawing = Drawing("Links that are fixed to each other become one body", 720, 250)
    links = (("base", 30), ("upper", 170), ("lower", 310), ("flange", 450), ("tool", 590))
    joints = ("revolute", "revolute", "fixed", "fixed")
    drawing.text(30, 24, "links of the description", 13, bold=True)
    for name, x in links:
        drawing.box(x, 40, 90, 36, BLUE)
        drawing.text(x + 45, 63, name, anchor="middle")
    for (_, x), joint in zip(links, joints, strict=False):
        drawing.arrow((x + 92, 58), (x + 138, 58), dashed=joint == "fixed")
        drawing.text(x + 115, 94, joint, 12, "middle")
    drawing.text(30, 142, "bodies of the model", 13, bold=True)
    for name, x, width in (("world", 30, 90), ("upper", 170, 90), ("lower + flange + tool", 310, 370)):
        drawing.box(x, 158, width, 36, GREEN)
        drawing.text(x + width / 2, 181, name, anchor="middle")
    for x in (122, 262):
        drawing.arrow((x, 176), (x + 46, 176))
    drawing.text(310, 216, "one mass, one inertia; flange and tool remain names of frames", 12)
    return drawing


def forms() -> Drawing:
    """Operations of the textbook's forms and of the chosen ones, for the arm with seven joints."""
    chosen = {x.function: (x.form, x.total) for x in counts() if x.robot == "7-dof arm" and x.kinds}
    rows = re.findall(r"^fixed +([a-z_]+)-(\w+) +(\d+) ", TEXTBOOK.read_text(encoding="utf-8"), re.MULTILINE)
    textbook: dict[str, int] = {}
    for function, _, total in rows:
        textbook.setdefault(function, int(total))
    names = [name for name in ("rnea", "aba", "crba", "minv") if name in textbook]
    drawing = Drawing("Operations of the textbook's form and of the chosen form", 720, 44 + 54 * len(names))
    most = max(textbook[name] for name in names)
    drawing.box(110, 8, 14, 14, "currentColor", 0.25)
    drawing.text(130, 20, "textbook, unrolled and simplified", 12)
    drawing.box(350, 8, 14, 14, BLUE, 0.6)
    drawing.text(370, 20, "the form that is chosen", 12)
    for k, name in enumerate(names):
        y = 40 + 54 * k
        form, total = chosen[name]
        drawing.text(100, y + 25, name, anchor="end", bold=True)
        for row, (count, color, opacity, said) in enumerate(
            ((textbook[name], "currentColor", 0.25, ""), (total, BLUE, 0.6, f"  {form}"))
        ):
            width = 430 * count / most
            drawing.box(110, y + 20 * row, round(width, 1), 16, color, opacity)
            drawing.text(round(118 + width, 1), y + 13 + 20 * row, f"{count}{said}", 12)
    return drawing


def masks() -> Drawing:
    """A quadruped of which two feet are on the ground."""
    drawing = Drawing("A quadruped with two active contacts of four", 720, 206)
    drawing.line((20, 166), (500, 166), color="currentColor", width=1.5)
    drawing.box(90, 20, 330, 44, BLUE)
    drawing.text(255, 47, "trunk", anchor="middle")
    feet = (("lf", 110, 1), ("rf", 200, 0), ("lh", 310, 0), ("rh", 400, 1))
    for name, x, active in feet:
        lift = 0 if active else 30
        drawing.line((x, 64), (x - 22, 112 - lift / 2), (x, 160 - lift), width=4)
        drawing.dot(x, 160 - lift, 6, RED, hollow=not active)
        if active:
            drawing.arrow((x + 14, 164), (x + 14, 102), RED)
        drawing.text(x, 190, f"{name}: {active}", 13, "middle")
    drawing.text(524, 32, "active = [1, 0, 0, 1]", 14, bold=True)
    drawing.text(524, 56, "lf and rh are held,", 13)
    drawing.text(524, 74, "with computed forces;", 13)
    drawing.text(524, 102, "rf and lh are free,", 13)
    drawing.text(524, 120, "with forces of exactly 0", 13)
    return drawing


def zeros() -> Drawing:
    """The elements of M of a quadruped that its tree allows."""
    model = rbdgen.load_robot("quadruped12", base="floating").model
    size, side = model.nv, 13
    supports = [{dof, *model.ancestor_dofs(dof)} for dof in range(size)]
    drawing = Drawing("The elements of M of a quadruped that its tree allows", 720, side * size + 20)
    count = 0
    for i in range(size):
        for j in range(size):
            nonzero = i in supports[j] or j in supports[i]
            count += nonzero
            color = BLUE if nonzero else "currentColor"
            drawing.box(20 + side * j, 10 + side * i, side - 2, side - 2, color, 0.6 if nonzero else 0.04)
    x = 20 + side * size + 30
    drawing.text(x, 40, f"M of a quadruped, {size} by {size}", 14, bold=True)
    drawing.text(x, 66, f"For {count} of {size * size} elements, one joint supports the other.", 13)
    drawing.text(x, 90, "The first six rows and columns are the base,", 13)
    drawing.text(x, 108, "which supports all legs.", 13)
    drawing.text(x, 132, "Joints of different legs do not support", 13)
    drawing.text(x, 150, "each other: these elements are constants.", 13)
    return drawing


PICTURES: Final[Mapping[str, Callable[[], Drawing]]] = {
    made.__name__: made for made in (coordinates, conventions, placement, merged, forms, masks, zeros)
}
"""All pictures by the names of their files."""


def pictures() -> Mapping[str, str]:
    """All pictures by their path in docs/."""
    return {f"concepts/pictures/{name}.svg": made().svg for name, made in PICTURES.items()}
