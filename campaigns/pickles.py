"""Opens pickled functions whose content was changed, as a part of the campaign `arrays`."""

from __future__ import annotations

import json
import os
import pickle
import random
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from campaigns.guard import unclear
from rbdgen.errors import RbdgenError
from rbdgen.runtime import Library


def tampered(library: Library, number: int) -> str | None:
    """Opens a pickle whose content was changed, and says what is wrong, if anything.

    It may be accepted, or refused in one line, and must not write any file outside of the cache.
    """
    rng = random.Random(number)
    load, (revive, packed, name) = pickle_parts(library)
    content = json.loads(zlib.decompress(packed))
    change = rng.choice(list(CHANGES))
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        os.environ["RBDGEN_CACHE"] = f"{scratch}/deep/er/cache"
        changed = CHANGES[change](content, rng, scratch)
        blob = changed if isinstance(changed, bytes) else zlib.compress(json.dumps(changed).encode())
        try:
            load(revive, blob, name)
        except RbdgenError as error:
            problem = unclear(error)
        else:
            problem = None
        cache = Path(os.environ["RBDGEN_CACHE"])
        if any(cache not in path.parents for path in Path(scratch).rglob("*escaped*")):
            return f"{change}: a file was written outside of the cache"
        return None if problem is None else f"{change}: {problem}"


def pickle_parts(library: Library) -> Any:
    """The parts of a pickled function: the function that opens it, its content and its name."""
    return pickle.loads(pickle.dumps(library.functions["rnea"])).__reduce__()


def _with_file(content: dict[str, Any], name: str) -> dict[str, Any]:
    return {**content, "files": {**content["files"], name: "/* */"}}


def _without_a_file(content: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    left = dict(content["files"])
    del left[rng.choice(list(left))]
    return {**content, "files": left}


def _flipped(content: dict[str, Any], rng: random.Random) -> bytes:
    raw = bytearray(zlib.compress(json.dumps(content).encode()))
    raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(raw)


CHANGES: dict[str, Callable[[dict[str, Any], random.Random, str], Any]] = {
    "a file above": lambda c, rng, here: _with_file(c, "../../../escaped.txt"),
    "a file anywhere": lambda c, rng, here: _with_file(c, f"{here}/escaped.txt"),
    "a folder's name": lambda c, rng, here: {**c, "name": "../../escaped"},
    "an absolute name": lambda c, rng, here: {**c, "name": f"{here}/escaped"},
    "a file less": lambda c, rng, here: _without_a_file(c, rng),
    "a plugin": lambda c, rng, here: {**c, "flags": [*c["flags"], f"-fplugin={here}/x.so"]},
    "an output": lambda c, rng, here: {**c, "flags": [*c["flags"], "-o", f"{here}/escaped.o"]},
    "fast mathematics": lambda c, rng, here: {**c, "flags": [*c["flags"], "-ffast-math"]},
    "levels": lambda c, rng, here: {**c, "levels": ["x86-64-v9"]},
    "no flags": lambda c, rng, here: {k: v for k, v in c.items() if k != "flags"},
    "numbers": lambda c, rng, here: {**c, "files": {"a.c": 1}},
    "a list": lambda c, rng, here: [c],
    "deep": lambda c, rng, here: b"[" * 100,
    "a bit": lambda c, rng, here: _flipped(c, rng),
    "cut": lambda c, rng, here: zlib.compress(json.dumps(c).encode())[: rng.randrange(200)],
    "nothing": lambda c, rng, here: c,
}
