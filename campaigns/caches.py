"""Damaged caches and packages, several builds at once, and folders that are generated again.

Entries of the cache, their seals and modules are damaged. A call either gives the right torques or is refused
in one line. Nothing ends the process.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from support.robots import PATHS

import rbdgen
from campaigns.guard import PYTHON, Case, said_well, tallied, unclear
from campaigns.tally import Tally
from rbdgen.errors import RbdgenError
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot

KINDS = ("damaged cache", "damaged package", "builds at once", "regenerated and loaded")
SIZE = 150
SMALL = 3

PENDULUM, OTHER = PATHS["double_pendulum"], PATHS["planar3r"]

DEEP = b"[" * 50_000


def run(seed: int, size: int) -> Tally:
    """Runs `size` cases; in an eighth of them several processes build, or a folder is generated again."""
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        kept = Path(scratch) / "kept"
        _use(kept)
        expected = {str(path): _torques(path) for path in (PENDULUM, OTHER)}
        for path, name in ((PENDULUM, "pendulum"), (OTHER, "other")):
            generate(load_robot(path), Options(functions=("gravity",), name=name), kept / "out")
        return tallied(_cases(random.Random(seed), size, kept, expected))


def _use(root: Path) -> None:
    os.environ["RBDGEN_CACHE"] = str(root / "cache")


def _torques(path: Path) -> list[float]:
    library: Any = rbdgen.build(load_robot(path), functions=["gravity"])
    return _gravity(library)


def _gravity(library: Any) -> list[float]:
    values: list[float] = library.gravity(np.linspace(0.3, 0.9, library.manifest["nq"])).tolist()
    return values


def _cases(rng: random.Random, size: int, kept: Path, expected: dict[str, list[float]]) -> Iterator[Case]:
    for k in range(size):
        damage, number = rng.choice(list(DAMAGES)), rng.getrandbits(32)
        if k % 16 == 15:
            yield Case("builds at once", partial(_at_once, kept, k % 32 == 15, expected))
        elif k % 8 == 5:
            yield Case(f"generated anew {number}", partial(_anew, number))
        elif k % 2:
            yield Case(f"cache, {damage} {number}", partial(_damaged_cache, kept, damage, number, expected))
        else:
            yield Case(
                f"package, {damage} {number}", partial(_damaged_package, kept, damage, number, expected)
            )


# ---- damage


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.choice((0, 1, 100, len(data) // 2, len(data) - 1, rng.randrange(len(data) + 1)))]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data or b"x")
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _lines(data: bytes, rng: random.Random) -> bytes:
    """Damages JSON so that it has another structure."""
    try:
        content = json.loads(data)
    except ValueError:
        return b"{}"
    key = rng.choice(list(content))
    content[key] = rng.choice((None, 1, "x", [], {}, [[]], -1, {"x": 1}))
    if rng.random() < 0.3:
        del content[key]
    return json.dumps(content).encode()


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut off": _cut,
    "a bit": _flip,
    "empty": lambda data, rng: b"",
    "deep": lambda data, rng: DEEP,
    "not UTF-8": lambda data, rng: b"\xff\xfe" + data,
    "other JSON": _lines,
    "zeros": lambda data, rng: bytes(len(data)),
    "longer": lambda data, rng: data + b"x" * 5000,
    "gone": lambda data, rng: b"",
    "a folder": lambda data, rng: b"",
    "a link": lambda data, rng: b"",
    "unreadable": lambda data, rng: data,
}


def _damage(path: Path, damage: str, rng: random.Random) -> None:
    data = path.read_bytes()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    elif damage == "a link":
        path.symlink_to("nowhere")
    elif damage != "gone":
        path.write_bytes(DAMAGES[damage](data, rng))
        if damage == "unreadable":
            path.chmod(0)


def _copied(kept: Path) -> Path:
    scratch = Path(tempfile.mkdtemp(prefix="attack-"))
    shutil.copytree(kept, scratch, dirs_exist_ok=True)
    (scratch / "cache").chmod(0o700)
    _use(scratch)
    return scratch


def _files(folder: Path, rng: random.Random) -> Path:
    """Draws a file of a folder; files that are read when the folder is opened are drawn more often."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    read = [path for path in files if path.suffix in (".json", ".so")]
    return rng.choice(rng.choice((files, read, read)))


def _damaged_cache(kept: Path, damage: str, number: int, expected: dict[str, list[float]]) -> str | None:
    """Damages a file of the cache, or exchanges modules or whole entries; then builds the same again."""
    rng, root = random.Random(number), _copied(kept)
    try:
        entries = sorted(path for path in (root / "cache").iterdir() if path.is_dir())
        drawn = rng.random()
        if drawn < 0.15:  # entries change names
            a, b = rng.sample(entries, 2)
            a.rename(a.with_name("x"))
            b.rename(a)
            a.with_name("x").rename(b)
        elif drawn < 0.3:  # a seal that says less
            seal = rng.choice(entries) / "entry.json"
            sealed = json.loads(seal.read_bytes())
            del sealed["files"][rng.choice(list(sealed["files"]))]
            seal.write_bytes(json.dumps(sealed).encode())
            _damage(_files(seal.parent, rng), damage, rng)
        else:
            _damage(_files(root / "cache", rng), damage, rng)
        try:
            result = _torques(PENDULUM)
        except RbdgenError as error:
            return f"refused, not made anew: {error}"
        return None if result == expected[str(PENDULUM)] else f"torques {result}"
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _damaged_package(kept: Path, damage: str, number: int, expected: dict[str, list[float]]) -> str | None:
    """Damages a file of a generated folder, or replaces its module; then opens and calls it."""
    rng, root = random.Random(number), _copied(kept)
    folder = root / "out/pendulum"
    try:
        if rng.random() < 0.2:
            module = next(folder.glob("_pendulum*.so"))
            other = next((root / "out/other").glob("_other*.so"))
            shutil.copy(other, module)
        else:
            _damage(_files(folder, rng), damage, rng)
        try:
            result = _gravity(rbdgen.load(folder))
        except RbdgenError as error:
            return unclear(error)
        return None if result == expected[str(PENDULUM)] else f"torques {result}"
    finally:
        shutil.rmtree(root, ignore_errors=True)


# ---- several at once, one after another


def _at_once(kept: Path, same: bool, expected: dict[str, list[float]]) -> str | None:
    """Generates by eight processes with one empty cache, into one folder or into a folder for each process.

    If the folders are separate, the processes generate two different robots.
    """
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        root = Path(scratch)
        commands = []
        for k in range(8):
            path = PENDULUM if same or k % 2 else OTHER
            out = root / ("out" if same else f"out{k}")
            commands.append(
                [
                    PYTHON,
                    "-m",
                    "rbdgen.cli",
                    str(path),
                    "-f",
                    "gravity",
                    "--name",
                    "made",
                    "-q",
                    "-o",
                    str(out),
                ]
            )
        environment = {**os.environ, "RBDGEN_CACHE": str(root / "cache")}
        running = [
            subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
            for command in commands
        ]
        for process in running:
            _, errors = process.communicate()
            if problem := said_well(process.returncode, errors) or (errors if process.returncode else None):
                return problem
        for command in commands:
            result = _gravity(rbdgen.load(Path(command[-1]) / "made"))
            if result != expected[command[3]]:
                return f"torques {result}"
        left = [path.name for path in root.glob("out*/.*")]
        return f"left behind: {left}" if left else None


def _anew(number: int) -> str | None:
    """Generates robots into one folder and loads each of them; libraries loaded earlier must stay right."""
    rng = random.Random(number)
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        root = Path(scratch)
        _use(root)
        text = PENDULUM.read_text(encoding="utf-8")
        path = root / "robot.urdf"
        loaded: list[tuple[Any, list[float]]] = []
        base = _torques(PENDULUM)
        for factor in rng.sample((1, 2, 4, 8), 3):
            path.write_text(_heavier(text, factor), encoding="utf-8")
            made = generate(load_robot(path), Options(functions=("gravity",), name="same"), root / "out")
            loaded.append((rbdgen.load(made.folder), [factor * tau for tau in base]))
            for library, torques in loaded:
                if not np.allclose(result := _gravity(library), torques, rtol=1e-9):
                    return f"torques {result}, not {torques}, after {len(loaded)} robots"
    return None


def _heavier(text: str, factor: int) -> str:
    """The URDF with all masses times a factor, so that gravity torques are also times this factor."""
    before, *rest = text.split('mass value="')
    masses = [part.split('"', 1) for part in rest]
    return before + "".join(f'mass value="{float(m) * factor!r}"{after}' for m, after in masses)
