"""Files of every format that ask for much memory or time, are deeply nested, or have hostile names.

Each file gives a sound robot, or is refused in one clear line, by a process that may take 10 s of processor
time and 1 GB of memory in addition to what it starts with.
"""

from __future__ import annotations

import math
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from xml.sax.saxutils import quoteattr

import numpy as np

from campaigns.guard import Case, tallied, unclear
from campaigns.names import PIECES, WORDS
from campaigns.tally import Tally
from rbdgen.errors import RbdgenError
from rbdgen.pipeline.robot import load_robot

KINDS = ("URDF", "xacro", "MJCF bombs", "MJCF names", "gazebo and ros2_control")
SIZE = 2000
SMALL = 8

ROOM = 2**30
PATIENCE = 10

INERTIAL = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
BODY = '<inertial pos=".1 0 0" mass="1" diaginertia="1 1 1"/>'
COUNTS = (0, 1, 2, 7, 300, 20_000, 10**6, 10**9, 10**12, -1)


def run(seed: int, size: int) -> Tally:
    return tallied(_case(seed, number) for number in range(size))


def run_case(seed: int, number: int) -> Tally:
    """Runs the case with this number, which is in the note of a failure."""
    return tallied([_case(seed, number)])


def _case(seed: int, number: int) -> Case:
    kind, make = list(_MAKERS.items())[number % len(_MAKERS)]
    name = f"--only files --seed {seed} --case {number} ({kind})"
    return Case(name, partial(_tried, make, f"{seed} {number}"))


def _tried(make: Callable[[Random], tuple[str, str]], seed: str) -> str | None:
    """Says what is wrong with the reading of one file."""
    suffix, text = make(Random(seed))
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + ROOM, used + ROOM))
    spent = math.ceil(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + PATIENCE, spent + PATIENCE + 1))
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        path = Path(scratch) / f"robot.{suffix}"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            robot = load_robot(path, ignore="all" if suffix == "xml" else ())
        except RbdgenError as error:
            return unclear(error)
    model = robot.model
    names = [body.joint.name for body in model.bodies]
    if len(set(names)) != len(names):
        return f"two joints of one name: {names!r:.200}"
    places = np.array([[float(x) for x in body.placement.translation] for body in model.bodies])
    return None if np.isfinite(places).all() else "a place that is not finite"


# ---- the texts of files; each function returns the suffix and the text


def _name(rng: Random) -> str:
    made = rng.choice(
        ("u_1", "a_j", "body1", "body2", "a_joint0", "b_joint1", "a_origin", "a_fixed", "root_joint", "world")
    )
    odd = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 4)))
    long = rng.choice("xé ") * rng.choice((60, 300, 5000))
    return rng.choice((made, made, made, rng.choice(WORDS), odd, long, f"plain{rng.randrange(9)}"))


def _urdf(rng: Random, more: str = "", links: int | None = None) -> tuple[str, str]:
    count = rng.choice((1, 2, 5, 40, 700, 3000, 12_000)) if links is None else links
    following = 0.0 if links is not None else rng.choice((0, 0, 0.01, 0.5, 1))
    names = (
        [f"l{k}" for k in range(count + 1)] if count > 9 else [f"{_name(rng)}{k}" for k in range(count + 1)]
    )
    joints = [f"j{k}" for k in range(count)] if count > 9 or links else [_name(rng) for _ in range(count)]
    parents = [rng.choice((k, rng.randint(0, k))) for k in range(count)]
    kinds = [rng.choice(("revolute", "continuous", "prismatic", "fixed", "planar")) for _ in range(count)]
    parts = [f"<link name={quoteattr(name)}>{INERTIAL}</link>" for name in names]
    parts += [
        f'<joint name={quoteattr(joints[k])} type="{kinds[k]}"><parent link={quoteattr(names[parents[k]])}/>'
        f"<child link={quoteattr(names[k + 1])}/>{_mimic(rng, joints, kinds, k, following)}</joint>"
        for k in range(count)
    ]
    return "urdf", f"<robot name={quoteattr(_name(rng))}>{''.join(parts)}{more}</robot>"


def _mimic(rng: Random, joints: list[str], kinds: list[str], k: int, often: float) -> str:
    """The <mimic> element of joint k, which follows the first or an earlier joint; mostly empty if `often` is
    small.
    """
    able = ("revolute", "continuous", "prismatic")
    leader = rng.choice((0, rng.randrange(k))) if k else 0
    follows = rng.random() < often and k and kinds[k] in able and kinds[leader] in able
    return f"<mimic joint={quoteattr(joints[leader])}/>" if follows else ""


def _xacro(rng: Random) -> tuple[str, str]:
    huge = rng.choice(COUNTS)
    bomb = rng.choice(
        (
            f'<link name="${{len(str(2**{huge}))}}"/>',
            f'<link name="${{"a" * {huge}}}"/>',
            f'<link name="${{len([k for k in range({huge})])}}"/>',
            f'<xacro:macro name="m" params="n"><xacro:if value="${{n &lt; {huge}}}"><xacro:m n="${{n + 1}}"/>'
            '</xacro:if></xacro:macro><xacro:m n="0"/>',
            "".join(
                f'<xacro:macro name="m{k}">{f"<xacro:m{k - 1}/>" * 10 if k else "<material/>"}</xacro:macro>'
                for k in range(rng.randint(1, 9))
            )
            + "<xacro:m1/>",
            '<xacro:include filename="robot.xacro"/>',
            f"<xacro:include filename='$(find {rng.choice(('a', '..', 'x' * 5000))})/x'/>",
            "".join(f'<xacro:property name="p{k}" value="${{p{k - 1}}}${{p{k - 1}}}"/>' for k in range(1, 60))
            + '<xacro:property name="p0" value="ab"/><link name="${p59}"/>',
        )
    )
    _, text = _urdf(rng, bomb, 2)
    return "xacro", text.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)


def _bomb(rng: Random) -> tuple[str, str]:
    m, n = (rng.choice(COUNTS) for _ in range(2))
    leaf = f'<body><joint/><geom size=".1"/>{BODY}</body>'
    more = rng.choice(
        (
            f'<asset><hfield name="h" nrow="{m}" ncol="{n}" size="1 1 1 1"/></asset>',
            f'<asset><texture name="t" type="2d" builtin="flat" width="{m}" height="{n}"/></asset>',
            f'<asset><texture name="t" builtin="flat" width="{m}" height="{n}"/></asset>',
            f'<size nuser_geom="{m}"/>',
            f'<size nkey="{m}"/>',
            f'<size nuserdata="{m}"/>',
            f'<custom><numeric name="n" size="{m}"/></custom>',
            f'<worldbody><replicate count="{m}"><replicate count="{n}">{leaf}</replicate></replicate>'
            "</worldbody>",
            f'<worldbody><composite type="cable" count="{m} 1 1" size="1"/></worldbody>',
            f'<worldbody><flexcomp name="f" type="grid" count="{m} {n} 2"/></worldbody>',
            f'<asset><mesh name="m" builtin="supersphere" params="{m} {n} 1 1"/></asset>',
            f"<worldbody>{'<body>' * (m % 400)}{'</body>' * (m % 400)}</worldbody>",
            '<include file="robot.xml"/>',
            f"<include file={quoteattr(_name(rng))}/>",
            f'<asset><mesh name="m" file={quoteattr(_name(rng))}/></asset>',
            f'<sensor><user dim="{m}"/></sensor>',
        )
    )
    return "xml", f"<mujoco><worldbody>{leaf}</worldbody>{more}</mujoco>"


def _tree(rng: Random, depth: int) -> str:
    """Nested bodies of an MJCF with joints, some of them without names."""
    parts = []
    for _ in range(rng.randint(1, 3)):
        name = rng.choice(("", f" name={quoteattr(_name(rng))}"))
        joints = "".join(
            f"<joint{rng.choice(('', f' name={quoteattr(_name(rng))}'))} axis='{axis}' "
            f"pos='{rng.choice(('0 0 0', '.1 .2 .3'))}'/>"
            for axis in ("1 0 0", "0 1 0", "0 0 1")[: rng.randint(0, 3)]
        )
        below = _tree(rng, depth - 1) if depth else ""
        parts.append(f"<body{name} pos='.1 .2 .3'>{joints}{BODY}{below}</body>")
    return "".join(parts)


def _mjcf(rng: Random) -> tuple[str, str]:
    return "xml", f"<mujoco><worldbody>{_tree(rng, rng.randint(0, 2))}</worldbody></mujoco>"


def _extensions(rng: Random) -> tuple[str, str]:
    value = rng.choice(("0", "1", "true", "-2", "nan", "1e400", "", "x" * 5000, "j1"))
    names = (
        "static",
        "gravity",
        "fluid_added_mass",
        "spring_stiffness",
        "mimic",
        "joint",
        "inertial",
        "mass",
    )
    parts = []
    for _ in range(rng.randint(1, 6)):
        deep = rng.randint(0, 5)
        inner = f"<{(name := rng.choice(names))}>{value}</{name}>"
        block = "<axis>" * deep + inner + "</axis>" * deep
        parts.append(rng.choice((f"<gazebo>{block}</gazebo>", f'<gazebo reference="j1">{block}</gazebo>')))
        params = "".join(
            f'<param name="{what}">{rng.choice((value, "j0", "j1", "0.5"))}</param>'
            for what in rng.sample(("mimic", "multiplier", "offset"), rng.randint(0, 3))
        )
        joint = f'<joint name="j{rng.randrange(4)}" mimic="{rng.choice(("true", "false"))}">{params}</joint>'
        parts.append(
            f'<ros2_control name="c" type="system">{joint * rng.choice((1, 1, 2000))}</ros2_control>'
        )
    return _urdf(rng, "".join(parts), 3)


_MAKERS: dict[str, Callable[[Random], tuple[str, str]]] = dict(
    zip(KINDS, (_urdf, _xacro, _bomb, _mjcf, _extensions), strict=True)
)
