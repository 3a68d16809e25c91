"""The cache of designs, by robot, options and generator."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from rbdgen.emit.package import Sources
from rbdgen.options import environment_compiler
from rbdgen.pipeline.compilation import module_tools
from rbdgen.pipeline.facts import facts_of
from rbdgen.pipeline.progress import Progress, Stage, silent
from rbdgen.pipeline.request import Request
from rbdgen.resources import package_root, template_root
from rbdgen.runtime.configuration import Manifold
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import compilers_named
from rbdgen.toolchain.cross import cross_compiler


def cached_design(
    request: Request, store: Cache, design: Callable[[], Sources], progress: Progress = silent
) -> Sources:
    """The result of `design`, which is taken from the cache if it is there, and then reported to
    `progress`."""
    anew = False

    def fill(folder: Path) -> None:
        nonlocal anew
        anew = True
        sources = design()
        text = json.dumps({"name": sources.name, "files": dict(sources.files)})
        (folder / "sources.json").write_text(text, encoding="utf-8")

    with store.using(f"design-{_key(request)}", fill) as entry:
        content = json.loads((entry / "sources.json").read_text(encoding="utf-8"))
    if not anew:
        kept = len(request.rows)
        Stage(progress, "designing", kept, kept)
    return Sources(content["name"], content["files"])


def _key(request: Request) -> str:
    """A hash of everything that a design depends on: all numbers of the robot, all options, the generator."""
    facts = facts_of(request)
    joints = [joint.row for joint in facts.manifold.joints]
    model = request.model
    told = {
        "generator": generator_digest(),
        "robot": {**asdict(replace(facts, manifold=Manifold(()))), "manifold": joints},
        "contact solver": [model.contact_solver, [contact.radius for contact in model.contacts]],
        "options": request.options.as_json(),
        "package": request.package,
        "own": [repr(composition) for composition in request.own],
        "measured with": _measured_with(request),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _measured_with(request: Request) -> str:
    """The compilers with which a budget of flash is measured, if there is one."""
    if request.options.budget_flash is None:
        return ""
    target = request.target
    if target.module:
        return repr(module_tools())
    if target.embedded:
        return repr(cross_compiler(target))
    return repr(compilers_named(request.options.compiler, environment_compiler()))


@cache
def generator_digest() -> str:
    """A hash of the generator itself, so that another version of rbdgen makes new designs."""
    digest = hashlib.sha256()
    files = [*package_root().rglob("*.py"), *filter(Path.is_file, template_root().rglob("*"))]
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()
