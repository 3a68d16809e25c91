"""Extreme and malformed numbers in every numeric place of a description and of the options.

Each is refused in one line, or the robot's inverse dynamics, designed as for a user, agree with a computation
with 60 digits. Results that are too large or too small for doubles are not checked.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from campaigns.guard import Case, tallied, unclear
from campaigns.tally import Tally
from rbdgen.errors import RbdgenError
from rbdgen.functions.table import TABLE
from rbdgen.graph.programs.run import run as run_program
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.sweeps.inputs import State, coordinates

KINDS = ("malformed numbers", "extreme numbers", "options")
SIZE = 1000
SMALL = 5

MALFORMED = (
    "", " ", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "0x10", "1_000", "1,5", "١",
    "９", "1.2.3", "--1", "+-1",
    "1e", "e5", ".", "1e5 x", "1 2 3 4 5 6 7", "9" * 400, "1e999999999999", "None", "1/2", "(1)", "0b1",
    "1f", "1d5", "½", "1\u00a02",
)  # fmt: skip
EXTREME = (
    "0", "-0.0", "1e308", "-1e308", "1.7976931348623157e308", "1e200", "1e154", "1e100", "1e30", "1e16",
    "1e8", "1e-8", "1.0000000001e-9",
    "1e-16", "1e-30", "1e-100", "1e-154", "1e-200", "1e-308", "5e-324", "-5e-324", "+1", "1.", ".5",
    "1E2", "-1", "1e-400",
    "3.141592653589793", "1.5707963267948966", "1.5708", "6.283185307179586", "0." + "1" * 300,
    "1" + "0" * 300,
)  # fmt: skip

TEMPLATE = """<robot name="numbers"><link name="root"/>
<link name="l1"><inertial><origin xyz="{cx} {cy} {cz}" rpy="{cr} {cp} {cw}"/><mass value="{m}"/>
<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>
<link name="l2"><inertial><origin xyz="{dx} 0.1 0"/><mass value="{m2}"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j1" type="revolute"><parent link="root"/><child link="l1"/>
<origin xyz="{px} {py} {pz}" rpy="{pr} {pp} {pw}"/>
<axis xyz="{ax} {ay} {az}"/><limit lower="{lo}" upper="{up}" effort="{ef}" velocity="{ve}"/></joint>
<joint name="j2" type="{type}"><parent link="l1"/><child link="l2"/>
<origin xyz="{qx} {qy} {qz}" rpy="{qr} 0 0"/>
<axis xyz="{bx} {by} {bz}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""

PLAIN = {
    **dict.fromkeys(("cx", "cy", "cz", "dx"), "0.1"), **dict.fromkeys(("cr", "cp", "cw"), "0.3"),
    "m": "2", "m2": "1",
    **dict.fromkeys(("xx", "yy", "zz"), "1"), **dict.fromkeys(("xy", "xz", "yz"), "0.05"),
    **dict.fromkeys(("px", "py", "pz", "qx", "qy", "qz"), "0.2"), **dict.fromkeys(("pr", "pp", "pw",
    "qr"), "0.7"),
    "ax": "0", "ay": "1", "az": "0", "bx": "0.6", "by": "0", "bz": "0.8", "lo": "-2", "up": "2",
    "ef": "5", "ve": "5",
}  # fmt: skip

HELD = (mpmath.mpf("1e-90"), mpmath.mpf("1e90"))
"""The range of results that are checked: the squares of their terms neither underflow nor overflow."""

TOLERANCE = 1e-6

EPSILON = 1e-13
"""The additional tolerance per m^2 of the squared reach, as inertia about distant points is rounded."""


def run(seed: int, size: int) -> Tally:
    """Tries `size` robots or options."""
    return tallied(_cases(random.Random(seed), size))


def _cases(rng: random.Random, size: int) -> Iterator[Case]:
    for _ in range(size):
        kind = rng.random()
        if kind < 0.15:
            option, value = _option(rng)
            yield Case(f"{option}={value!r:.60}", partial(_with_option, option, value))
            continue
        values = dict(PLAIN)
        type = rng.choice(("revolute", "continuous", "prismatic"))
        for place in rng.sample(list(PLAIN), rng.choice((1, 1, 1, 2, 4, 20))):
            values[place] = rng.choice(MALFORMED if kind < 0.35 else EXTREME)
        snap = rng.choice((0.0, 1e-9))
        changed = {k: v[:40] for k, v in values.items() if v != PLAIN[k]}
        yield Case(
            f"{changed} {type} snap {snap}", partial(_right, TEMPLATE.format(**values, type=type), snap)
        )


# ---- options


def _option(rng: random.Random) -> tuple[str, Any]:
    """Draws a numeric option and a value for it."""
    numbers: list[Any] = [float(x) for x in EXTREME]
    numbers += [
        float("nan"),
        float("inf"),
        -float("inf"),
        0,
        -1,
        2**70,
        True,
        None,
        "1",
        "x",
        [],
        (1, 2),
        1j,
        2.5,
    ]
    option = rng.choice(("snap", "gravity", "budget", "ram", "budget_flash"))
    value = rng.choice(numbers)
    if option == "gravity" and rng.random() < 0.8:
        value = tuple(rng.choice(numbers) for _ in range(rng.choice((3, 3, 3, 2, 4, 0))))
    return option, value


def _with_option(option: str, value: Any) -> str | None:
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        path = Path(scratch) / "robot.urdf"
        path.write_text(TEMPLATE.format(**PLAIN, type="revolute"), encoding="utf-8")
        try:
            if option in ("snap", "gravity"):
                return _compared(load_robot(path, **{option: value}))
            options = Options.of(functions=("gravity",), **{option: value}, target="cortex-m4f", real="float")
            design_functions(Request(load_robot(path), options))
        except RbdgenError as error:
            return unclear(error)
    return None


# ---- descriptions


def _right(text: str, snap: float) -> str | None:
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        path = Path(scratch) / "robot.urdf"
        path.write_text(text, encoding="utf-8")
        try:
            return _compared(load_robot(path, snap=snap))
        except RbdgenError as error:
            return unclear(error)


def _compared(robot: Robot) -> str | None:
    """Compares inverse dynamics with 60 digits, and designs other functions; says what is wrong, if anything.

    Raises RbdgenError if a function is refused.
    """
    q, v, a = (0.3, -0.7), (0.4, 0.9), (-0.2, 0.6)
    [function] = design_functions(Request(robot, Options(functions=("rnea",))))
    given = {"q": np.array(q), "v": np.array(v), "a": np.array(a)}
    with np.errstate(all="ignore"):
        ours = run_program(function.program, given)["tau"]
    with mpmath.workdps(60):
        wanted = _many_digits(robot, q, v, a)
        scale = max(map(abs, wanted))
        if HELD[0] < scale < HELD[1]:
            error = max(abs(mpmath.mpf(float(x)) - y) for x, y in zip(ours, wanted, strict=True)) / scale
            if not error < TOLERANCE + EPSILON * _reach(robot) ** 2:
                return f"torques {ours.tolist()}, not {[float(x) for x in wanted]}"
    for other in ("aba", "minv", "crba"):  # designing several at once would start processes
        design_functions(Request(robot, Options(functions=(other,))))
    return None


def _reach(robot: Robot) -> float:
    """The largest component of an offset of a joint or of a centre of mass, in m, at most 1e100."""
    bodies = robot.model.bodies
    lengths = [x for body in bodies for x in body.placement.translation]
    lengths += [h / b.inertia.mass for b in bodies if b.inertia.mass for h in b.inertia.first_moment]
    return min(max(map(abs, map(float, lengths))), 1e100)


def _many_digits(robot: Robot, q: Any, v: Any, a: Any) -> list[Any]:
    """The torques with 60 digits, by the textbook's form on the model that was read."""
    q, v, a = ([mpmath.mpf(x) for x in values] for values in (q, v, a))
    state = State(q=coordinates(robot.model, q, mpmath.cos, mpmath.sin), v=v, a=a, tau=(), fext=None)
    [tau] = TABLE["rnea"].form("newton_euler").trace(robot.model, state)
    return [mpmath.mpf(x) for x in tau]
