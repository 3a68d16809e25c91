"""The options of a robot, and those of files that are written in addition to the C."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any, get_args

from rbdgen.description.contacts import DEFAULT_PLAN, FORMS, SOLE_PLAN, Extra, Form, SolverPlan
from rbdgen.emit.backends import ON_REQUEST


def _add_contact_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of contacts. They share one list, so contacts have the order of the options."""
    helps: dict[Form, str] = {
        "--contact": "keep a point of a link (its origin, or X,Y,Z in m) in place, for contact_...",
        "--contact-frame": "keep a point of a link and the link's axes in place, for contact_...",
        "--contact-sole": "the same for a rectangular foot, whose corners contact_step lets open and slide",
        "--contact-loop": "keep points of two links together, and with :frame their axes, for contact_...",
    }
    for option, text in helps.items():
        group.add_argument(
            option,
            metavar=FORMS[option],
            dest="contacts",
            action="append",
            default=[],
            type=partial(lambda option, text: (option, text), option),
            help=text,
        )
    group.add_argument(
        "--contact-from-collision",
        metavar="[sole:]LINK[:SIDE],...",
        action="append",
        default=[],
        help="also contacts at a link's shapes for collision: spheres, and corners of boxes (SIDE -z: four); "
        "with sole: before LINK, one sole at its flat lower side",
    )
    group.add_argument(
        "--contact-set",
        metavar="NAME=CONTACT,CONTACT",
        action="append",
        default=[],
        help="also functions of only these contacts, such as contact_aba_NAME; once for each set",
    )

    group.add_argument(
        "--contact-solver",
        metavar="S,N,B",
        help="iterations of contact_step: S sweeps, N Newton steps, B sweeps between them "
        f"({_said(DEFAULT_PLAN)}; with soles {_said(SOLE_PLAN)})",
    )
    group.add_argument(
        "--contact-with",
        metavar="EXTRA,...",
        action="append",
        default=[],
        help=f"what contact_step also has, some of {', '.join(get_args(Extra))}; the last two are of joints",
    )


def _add_capsule_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of capsules that cover links."""
    group.add_argument(
        "--cover",
        metavar="SHAPE=FORM",
        action="append",
        default=[],
        help="capsules of shapes for distances: mesh=capsules:K, box=capsules:K, cylinder=short|capsule",
    )
    group.add_argument(
        "--capsules",
        metavar="FILE.toml",
        type=Path,
        help="capsules that replace those of the links that the file names, see rbdgen cover",
    )
    group.add_argument(
        "--shapes",
        choices=("collision", "visual"),
        help="the shapes that capsules cover (default collision)",
    )


def _add_pair_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of pairs of capsules."""
    group.add_argument(
        "--pairs",
        metavar="auto|all|srdf|FILE",
        help="the pairs whose distances are wanted: auto leaves out those that cannot meet (default auto)",
    )
    group.add_argument(
        "--srdf", metavar="FILE", type=Path, help="leave out the pairs that this SRDF disables"
    )


def _add_distance_options(group: argparse._ArgumentGroup) -> None:
    """Adds the options of functions of distances."""
    group.add_argument(
        "--obstacles",
        metavar="KIND=N,...",
        help="distances from at most N obstacles: spheres=8,capsules=2,boxes=2,halfspaces=1",
    )
    group.add_argument(
        "--distance",
        choices=("plain", "exact"),
        help="how closest points are computed; exact keeps more digits (default plain, in float exact)",
    )
    group.add_argument(
        "--distance-floor",
        metavar="M",
        type=float,
        default=0.0,
        help="round off distances of axes below M metres, which bounds second derivatives (default 0)",
    )
    group.add_argument(
        "--softmin",
        metavar="B",
        type=float,
        default=100.0,
        help="the sharpness of distance_softmin in 1/m (default 100)",
    )
    group.add_argument(
        "--groups",
        metavar="FILE",
        help="a TOML file with the groups of distance_softmin: NAME = ['PATTERN', ...] of names of pairs",
    )


def _said(plan: SolverPlan) -> str:
    return ",".join(map(str, plan))


def distance_defaults() -> dict[str, Any]:
    """The values of the options of pairs and distances if none is given."""
    parser = argparse.ArgumentParser(add_help=False)
    group = parser.add_argument_group()
    _add_pair_options(group)
    _add_distance_options(group)
    return vars(parser.parse_args([]))


def add_emit_options(group: argparse._ArgumentGroup) -> None:
    """Adds the option --emit and those that belong to it."""
    group.add_argument(
        "--emit",
        metavar="NAME",
        action="append",
        default=[],
        help="also write " + ", ".join(f"{name}: {row.adds}" for name, row in ON_REQUEST.items()),
    )
    group.add_argument(
        "--knots",
        metavar="N",
        type=int,
        default=1,
        help="--emit casadi --knots N means --emit casadi:N",
    )
    group.add_argument(
        "--range",
        metavar="NAME=LOW:HIGH",
        dest="ranges",
        action="append",
        default=[],
        help="for bounds: the range of an input, of one element such as q[3], or of parameters (also +-10%%)",
    )
    group.add_argument(
        "--tighten",
        metavar="N",
        type=int,
        default=0,
        help="for bounds: cut the ranges into at most N parts, the worst of them first (default 0: none)",
    )


def add_robot_options(
    parser: argparse.ArgumentParser, title: str = "the robot", *, frames: bool = True, pairs: bool = True
) -> None:
    group = parser.add_argument_group(title)
    group.add_argument(
        "--base",
        choices=("fixed", "floating"),
        help="the root is fixed to the world, or free (default fixed; free for an MJCF with a free joint)",
    )
    group.add_argument(
        "--snap",
        metavar="TOL",
        type=float,
        default=1e-9,
        help="entries of fixed rotations within TOL of 0 become 0 (default 1e-9; 0: none)",
    )
    group.add_argument(
        "--xacro-arg",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="an argument of a xacro; give the option once for each",
    )
    group.add_argument(
        "--lock",
        metavar="JOINT=VALUE",
        action="append",
        default=[],
        help="keep a joint fixed at this position, rad or m; give the option once for each",
    )
    group.add_argument("--damping", action="store_true", help="functions include the joints' viscous damping")
    group.add_argument(
        "--friction",
        metavar="exact|smooth:VELOCITY",
        help="functions include Coulomb friction: by sign(v), or v / sqrt(v^2 + VELOCITY^2), rad/s or m/s",
    )
    group.add_argument(
        "--armature",
        metavar="FILE",
        type=Path,
        help="the rotors of motors: SRDF, TOML or JSON, {joint: {rotor_inertia: kg m^2, gear_ratio: turns}}",
    )
    group.add_argument(
        "--loop",
        metavar="FRAME=FRAME[:point]",
        action="append",
        default=[],
        help="a closed loop: keep two links together, or only their origins; give the option once for each",
    )
    group.add_argument(
        "--ignore",
        metavar="WHAT,WHAT",
        action="append",
        default=[],
        help="leave out unsupported features of an MJCF instead of refusing it: tendon, ..., or all",
    )
    group.add_argument(
        "--independent",
        metavar="JOINT,JOINT",
        action="append",
        default=[],
        help="joints whose velocities determine all others in closed loops, for loop_rnea and loop_aba",
    )
    if frames:
        _add_contact_options(group)
        group.add_argument(
            "--frames",
            metavar="NAME,NAME",
            action="append",
            default=[],
            help="the frames of functions frame_...: links, joints, sites, patterns such as 'foot_*'",
        )
        _add_capsule_options(group)
        if pairs:
            _add_pair_options(group)
            _add_distance_options(group)
    group.add_argument(
        "--order",
        choices=("name", "file"),
        help="the order of joints below a link: by name, as in Pinocchio, or as in the file (default name; "
        "file for an MJCF, as in MuJoCo)",
    )
    group.add_argument(
        "--bounds",
        metavar="FACTOR",
        type=float,
        default=1.0,
        help="multiply the bounds of memory and work for reading the robot by FACTOR (default 1)",
    )
    group.add_argument("--root", metavar="LINK", help="keep only this link and the links below it")
    group.add_argument(
        "--tip", metavar="LINK", help="keep only the chain from the root to this link, without branches"
    )
    group.add_argument(
        "--mimic",
        choices=("eliminate", "independent"),
        default="eliminate",
        help="mimic joints follow others and are not part of q, or are independent (default eliminate)",
    )
