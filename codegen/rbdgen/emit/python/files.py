"""The Python package of a folder: modules that open the library, and the C that binds it to Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rbdgen.emit.contexts import CFunction
from rbdgen.emit.folder import Folder
from rbdgen.emit.package import ATTRIBUTES, IN_PYTHON, PRIVATE, RobotFacts
from rbdgen.emit.real import real_type
from rbdgen.emit.text import copied, filled
from rbdgen.functions.configurations.rows import DIFFERENCE
from rbdgen.functions.friction.arguments import GROUND
from rbdgen.resources import package_root

LOADER: Final = (
    "errors.py",
    "signature.py",
    "runtime/__init__.py",
    "runtime/anchors.py",
    "runtime/arrays.py",
    "runtime/bodies.py",
    "runtime/compiled.py",
    "runtime/configuration.py",
    "runtime/described.py",
    "runtime/documentation.py",
    "runtime/extension.py",
    "runtime/function.py",
    "runtime/grounds.py",
    "runtime/lazy.py",
    "runtime/library.py",
    "runtime/log_cholesky.py",
    "runtime/manifest.py",
    "runtime/memory.py",
    "runtime/obstacles.py",
    "runtime/parameters.py",
    "runtime/pickled.py",
    "runtime/plausible.py",
    "runtime/rollout.py",
    "runtime/space.py",
    "runtime/sparsity.py",
    "runtime/straight_line.py",
)
"""Modules of rbdgen of which every generated package carries a copy."""

BINDING: Final = ("calls.c", "bodies.h", "stream.h", "threads.h", "threads.c")
"""C files that are the same for every robot and are copied unchanged from `templates/python`."""


STEP: Final = "contact_step"
POSE: Final = "contact_pose"

Closure = tuple[CFunction | None, CFunction | None]


def _set_of(function: CFunction, facts: RobotFacts) -> str:
    """The ending of the name of a function that only uses a set of contacts; empty for all contacts."""
    endings = [f"_{name}" for name in facts.contact_sets]
    return max((end for end in endings if function.name.endswith(end)), key=len, default="")


def _closures(step: CFunction, functions: Sequence[CFunction], facts: RobotFacts) -> list[Closure]:
    """The ways in which the steps of a rollout may depend on the current state, with the functions that they
    need: `difference` for feedback, and the `contact_pose` of the same contacts for uneven ground."""
    if not (step.rolling and step.rolling.feedback):
        return []
    differences: list[CFunction | None] = [x for x in functions if x.name == DIFFERENCE.name]
    poses: list[CFunction | None] = []
    if step.name.startswith(STEP) and any(x.name == GROUND.name for x in step.inputs):
        poses = [x for x in functions if x.name == POSE + _set_of(step, facts)]
    pairs = ((a, b) for a in (None, *differences) for b in (None, *poses))
    return [pair for pair in pairs if pair != (None, None)]


class Touch(NamedTuple):
    """A point that can touch the ground."""

    contact: int
    """The number of its contact among those of `contact_pose`."""
    arm: tuple[float, ...]
    """The point, from that of the contact in the axes of the contact's link."""


def _touches(pose: CFunction, facts: RobotFacts) -> list[Touch]:
    """The points that can touch the ground, from the poses that a function gives, in the order of planes."""
    held, ending = facts.contacts, _set_of(pose, facts)
    if ending:
        own = {contact.name: contact for contact in held}
        held = tuple(own[name] for name in facts.contact_sets[ending[1:]])
    return [Touch(k, arm) for k, contact in enumerate(held) for arm in contact.touches]


def files(folder: Folder) -> dict[str, str]:
    """The files of the package, by path. There are none for small machines, whose folders hold only C."""
    if not folder.options.package or folder.options.small_machine:
        return {}
    names = [function.name for function in folder.shown]
    closures = {function.name: _closures(function, folder.shown, folder.facts) for function in folder.shown}
    poses = {pose.symbol: pose for pairs in closures.values() for _, pose in pairs if pose}
    context = {
        "robot": folder.robot,
        "functions": folder.shown,
        "exported": sorted({*ATTRIBUTES, *IN_PYTHON, *names}),
        "in_python": [name for name in IN_PYTHON if name not in names],
        "batch_functions": folder.shown_batches,
        "numpy": real_type(folder.options.real).numpy,
        "closures": closures,
        "touches": {symbol: _touches(pose, folder.facts) for symbol, pose in poses.items()},
    }
    made = {
        "__init__.py": filled("python/__init__.py.jinja", **context),
        "__init__.pyi": filled("python/__init__.pyi.jinja", **context),
        "py.typed": "",
        f"{PRIVATE}/__init__.py": '"""A copy of the loader of rbdgen, and the C that binds the robot."""\n',
        f"{PRIVATE}/binding.h": filled("python/binding.h.jinja", **context),
        f"{PRIVATE}/binding.c": filled("python/binding.c.jinja", **context),
        f"{PRIVATE}/processor.c": filled("python/processor.c.jinja", **context),
        **{f"{PRIVATE}/{file}": copied(f"python/{file}") for file in BINDING},
    }
    if folder.batches:
        made[f"{PRIVATE}/dispatch.h"] = filled("python/dispatch.h.jinja", **context)
    for module in LOADER:
        made[f"{PRIVATE}/{module}"] = (package_root() / module).read_text(encoding="utf-8")
    return made
