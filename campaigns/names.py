"""Hostile names of robots, links and joints, and hostile values of --name.

The generated files are compared with those for harmless names: the tokens of C must be the same in the same
order, with identifiers renamed one to one. This detects a name that ends the comment in which it is written,
or two names that become one.
"""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from campaigns.guard import Case, tallied, unclear
from campaigns.tally import Tally
from rbdgen.cli import tables
from rbdgen.emit.names import RESERVED
from rbdgen.emit.package import FunctionSource, Sources
from rbdgen.errors import RbdgenError
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.page import emit
from rbdgen.pipeline.request import Request
from rbdgen.pipeline.robot import load_robot
from rbdgen.runtime import open_library
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

KINDS = ("words", "pieces", "letters", "long names", "paths", "names that become one")
SIZE = 2000
SMALL = 5

WORDS = sorted(
    RESERVED
    | set(
        """
        stdint stddef stdio stdlib string math float limits features immintrin stdbool assert errno time cdefs
        Python numpy complex tgmath fenv signal pthread sched types bits sys x86intrin alloca malloc q v a tau
        fext x y z i k n test tests wrong hash forget differ draw word state states count main lanes batch
        call part job arrays steps sin cos sqrt sincos memcpy printf size_t int32_t uint32_t NULL EOF M_PI
        INFINITY NAN I y0 j1 gamma index double_t DISPATCH rbdgen rbdgen_part rnea aba crba minv
        RBDGEN_LINES gravity selftest batch_selftest manifest load cffi os json builtins con CON nul aux
        self None True __main__ _rbdgen lib ffi py pyi README Makefile CMakeLists
        """.split()  # noqa: SIM905  (a list would take a screen)
    )
)
PIECES = (
    "*/", "/*", "//", "\\", "\\\n", "??/", "??/\n", "'", '"', '"""', "'''", "\n", "\r", "\t", "\x0b",
    "\x85", "\u2028",
    "#define q 1", "#include </etc/passwd>", '"); system("id"); /*', "{{ 7 * 7 }}", "{% raw %}", "{#",
    "%s%n%d", "$(id)",
    "`id`", "${HOME}", "; rm x;", "&&", "|", "<b>", "</script>", "&amp;", "]]>", "[bold]", "[/]",
    "[link=x]", "..", "../",
    "/", "/etc/", "~", "-", "--help", "-o", ".", " ", "_", "__", "é", "ß", "ı", "İ", "ﬁ", "Ω", "中", "😀",
    "\u202e", "\u200b",
    "\u0301", "９", "²", "ª", "a", "B", "7", "L", "\ufeff", "\xa0", "\x7f", "\x9f", "\ud7ff",
    "\U0010ffff", "0x", "1e5",
)  # fmt: skip


@dataclass(frozen=True)
class Names:
    """All names of a robot with two joints; `option` is the value of --name."""

    robot: str
    links: tuple[str, ...]
    joints: tuple[str, ...]
    option: str | None = None


HARMLESS = Names("harmless", ("root", "upper", "lower"), ("first", "second"))


def run(seed: int, size: int) -> Tally:
    """Tries `size` robots; every 20th is compiled with warnings as errors, and every 100th is called."""
    _harmless()  # shared by all cases
    return tallied(_cases(random.Random(seed), size))


def _cases(rng: random.Random, size: int) -> Iterator[Case]:
    words = rng.sample(WORDS, len(WORDS))
    for k in range(size):
        names = _drawn(rng)
        if k % 20 == 0 and words:  # the robot and its joints have words of C as names
            names = Names(words.pop(), HARMLESS.links, (rng.choice(WORDS), rng.choice(WORDS)))
        compiled = 2 if k % 100 == 0 else k % 20 == 0
        yield Case(f"{names!r:.300}", partial(_tried, names, int(compiled)))


def _drawn(rng: random.Random) -> Names:
    links = (_name(rng), _name(rng), _name(rng))
    joints = (_name(rng), _name(rng))
    if rng.random() < 0.2:  # different names whose identifiers may be equal
        joints = rng.choice(
            (("a b", "a_b"), ("A_B", "a_b"), ("a", "a_2"), ("é", "e"), ("1", "n1"), ("", "n"))
        )
    option = rng.choice((None, None, _name(rng)))
    return Names(_name(rng), links, joints, option)


def _name(rng: random.Random) -> str:
    drawn = rng.choice(("word", "pieces", "pieces", "letters", "long", "harmless"))
    if drawn == "word":
        return rng.choice((str.lower, str.upper, str.title, str))(rng.choice(WORDS))
    if drawn == "pieces":
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 6)))
    if drawn == "letters":
        return "".join(chr(rng.choice((rng.randrange(1, 256), rng.randrange(1, 0xD800)))) for _ in range(6))
    if drawn == "long":
        return rng.choice(PIECES + ("x", "q_")) * rng.choice((60, 240, 256, 5000))
    return f"plain_{rng.randrange(1000)}"


def _urdf(names: Names) -> bytes:
    """The URDF of a chain of two bodies with these names; its dynamics do not depend on them."""
    root, upper, lower = (quoteattr(name) for name in names.links)
    first, second = (quoteattr(name) for name in names.joints)
    inertial = (
        '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    place = '<origin xyz="0.1 0.2 0.3"/><axis xyz="0 1 0"/>'
    lines = (
        f"<robot name={quoteattr(names.robot)}><link name={root}/>",
        f"<link name={upper}>{inertial}</link><link name={lower}>{inertial}</link>",
        f'<joint name={first} type="continuous"><parent link={root}/><child link={upper}/>{place}</joint>',
        f'<joint name={second} type="continuous"><parent link={upper}/><child link={lower}/>{place}</joint>',
        "</robot>",
    )
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _designed(names: Names, scratch: Path) -> Sources:
    path = scratch / "robot.urdf"
    path.write_bytes(_urdf(names))
    robot = load_robot(path)
    with redirect_stdout(StringIO()):
        tables.inspect(tables.consoles()[0], robot, robot.warnings)
    return emit(Request(robot, replace(OPTIONS, name=names.option)), _functions())


OPTIONS = Options(functions=("gravity",))


@cache
def _functions() -> list[FunctionSource]:
    """The functions, which are designed once, as names do not change them."""
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        path = Path(scratch) / "robot.urdf"
        path.write_bytes(_urdf(HARMLESS))
        return design_functions(Request(load_robot(path), OPTIONS))


def _tried(names: Names, compiled: int) -> str | None:
    harmless = _harmless()
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        try:
            sources = _designed(names, Path(scratch))
        except RbdgenError as error:
            return unclear(error)
        problem = _unlike(sources, harmless)
        if problem is None and compiled:
            problem = _uncompiled(sources, Path(scratch))
        if problem is None and compiled > 1:
            problem = _uncalled(sources)
    return problem


@cache
def _harmless() -> Sources:
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        return _designed(HARMLESS, Path(scratch))


# ---- comparison of generated files


_TOKEN = re.compile(
    r"(?P<space>\s+|/\*.*?\*/|//[^\n]*)|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<sign>.)",
    re.DOTALL | re.ASCII,
)


def tokens(source: str) -> list[tuple[str, str]]:
    """The kind and text of every token of C except comments, after trigraphs and joined lines."""
    seen = source.replace("??/", "\\").replace("\\\n", "")
    return [(m.lastgroup or "", m.group()) for m in _TOKEN.finditer(seen) if m.lastgroup != "space"]


def _unlike(sources: Sources, harmless: Sources) -> str | None:
    """Says what differs other than names, if anything."""
    renamed = {name.replace(harmless.name, sources.name): name for name in harmless.files}
    if renamed.keys() != sources.files.keys():
        return f"other files: {sorted(renamed.keys() ^ sources.files.keys())[:3]}"
    for name, other in renamed.items():
        text, model = sources.files[name], harmless.files[other]
        problem = None
        if name.endswith((".c", ".h", ".hpp")):
            if not text.isascii():
                return f"{name}: not ASCII"
            ours, models = tokens(_without_names(text)), tokens(_without_names(model))
            problem = _renamed(ours, models, (sources.name, harmless.name))
        elif name.endswith((".py", ".pyi")):
            problem = _other_python(text, model)
        elif name.endswith(".json"):
            json.loads(text)
        elif len(text.splitlines()) != len(model.splitlines()):
            problem = "other lines"
        elif name.endswith(".md") and text.count("<") != model.count("<"):
            problem = "other tags"
        if problem is not None:
            return f"{name}: {problem}"
    return None


def _without_names(text: str) -> str:
    """A header without the texts of constants that tell the names and the checksum of the description."""
    constants = r"#define \w+_(?:NAMES_OF_\w+|DESCRIPTION_SHA256)\b.*(?:\n    .*)*"
    return re.sub(constants, lambda found: re.sub(r'"[^"]*"', '""', found[0]), text)


def _renamed(
    ours: Sequence[tuple[str, str]],
    models: Sequence[tuple[str, str]],
    names: tuple[str, str],
) -> str | None:
    """Says what differs other than identifiers and the robots' names in texts; None if nothing does.

    Identifiers must match one to one.
    """
    own, model = (re.compile(rf'"(?:\.\./)?{name}(?![A-Za-z0-9])') for name in names)
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    for (kind, text), (other_kind, other) in zip(ours, models, strict=False):
        if kind != other_kind:
            return f"{text!r:.80} for {other!r:.80}"
        if kind == "name":
            if (text, other) == names:  # the C++ name space, whose name may equal that of a variable
                continue
            if there.setdefault(text, other) != other or back.setdefault(other, text) != text:
                return f"{text} for {other}, but elsewhere {there[text]} for {back.get(other)}"
        elif text != other and own.sub('"@', text) != model.sub('"@', other):
            return f"{text!r:.80} for {other!r:.80}"
    return None if len(ours) == len(models) else f"{len(ours)} tokens for {len(models)}"


def _other_python(text: str, model: str) -> str | None:
    """Says that a module has other statements than the model, or None."""
    kinds = [[type(node) for node in ast.walk(ast.parse(x))] for x in (text, model)]
    return None if kinds[0] == kinds[1] else "other statements"


def _uncompiled(sources: Sources, scratch: Path) -> str | None:
    """The error of a compiler for any of the sources, or None."""
    folder = scratch / sources.name
    for name, text in sources.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    own = [name for name in sources.files if name.endswith(".c") and "/" not in name]
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", "-trigraphs", "-I.", "-fsyntax-only")
    done = subprocess.run(["gcc", *strict, *own], cwd=folder, capture_output=True, text=True, check=False)
    told = done.stderr
    if shutil.which("g++"):
        command = [
            "g++",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-I.",
            "-fsyntax-only",
            "-x",
            "c++",
            f"{sources.name}.hpp",
        ]
        told += subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr
    complaints = [line for line in told.splitlines() if "error" in line]
    return f"{complaints[0][:300]}" if complaints else None


def _uncalled(sources: Sources) -> str | None:
    """Says what is wrong with the torques of the built package, if anything."""
    from rbdgen.toolchain.cache import Cache  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        folder = build(
            sources, Toolchain(find_compiler(), ("-O0", "-ffp-contract=off"), 1), Cache(Path(scratch))
        )
        library: Any = open_library(folder)
        tau = library.gravity([0.3, -0.4])
        return None if abs(tau[1]) < 1e-12 and abs(tau[0]) > 1e-3 else f"torques {tau.tolist()}"
