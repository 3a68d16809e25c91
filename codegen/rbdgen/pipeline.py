"""The page: description -> model -> algorithms -> graph -> emission -> build -> load, each stage once."""

from __future__ import annotations

import hashlib
import json
import numbers
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from rbdgen.algorithms.catalogue import lookup
from rbdgen.build.batch import architecture
from rbdgen.build.cache import Cache
from rbdgen.build.compiler import Compiler, find_compiler
from rbdgen.build.cross import cross_compiler, with_figures
from rbdgen.build.module import Toolchain, build, package_files
from rbdgen.build.targets import Target, target_named
from rbdgen.description.urdf import read_urdf
from rbdgen.emit.names import renaming, robot_identifier
from rbdgen.emit.package import (
    MANIFEST,
    BodyFacts,
    EmitOptions,
    FunctionSource,
    JointFacts,
    RobotFacts,
    Sources,
)
from rbdgen.emit.render import render
from rbdgen.emit.write import write_folder
from rbdgen.errors import OptionError
from rbdgen.fitting import fitted
from rbdgen.graph.cost import Cost
from rbdgen.graph.program import verify_program
from rbdgen.load import Library, open_library
from rbdgen.model.build import DEFAULT_SNAP, Base, Robot, build_robot
from rbdgen.model.joints import JointKind
from rbdgen.model.model import Body
from rbdgen.options import Options, available_cores, environment_cache, environment_compiler, lanes
from rbdgen.resources import package_root, template_root
from rbdgen.selection.budget import check_budget
from rbdgen.selection.frames import Frames, search
from rbdgen.selection.variants import choose
from rbdgen.spatial.ops import Vector
from rbdgen.version import __version__
from rbdgen.workers import in_parallel

Progress = Callable[[str], None]
"""Told, in words, what was just done."""

LARGEST_GRAVITY = 1e9
"""In m/s^2: far above any, and forces by it stay finite."""


def load_robot(
    path: str | Path,
    base: Base = "fixed",
    snap: float = DEFAULT_SNAP,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Robot:
    """Read a URDF and make its model.

    `base`: "fixed" or "floating"; `snap`: entries of fixed rotations this close to 0 become 0; `gravity`:
    in m/s^2, world axes. Raises DescriptionError, ModelError or OptionError, each one line.
    """
    if not (isinstance(base, str) and base in ("fixed", "floating")):
        raise OptionError(f"base {_told(base)} is not known; choose fixed or floating")
    if not (isinstance(snap, numbers.Real) and 0 <= snap < 0.1):
        raise OptionError(f"snap {_told(snap)} makes no sense; give a number from 0 (off) to 0.1")
    return build_robot(read_urdf(path), base, float(snap), _gravity(gravity))


def _gravity(given: Sequence[float]) -> Vector:
    """Three numbers as a vector."""
    values = list(given) if isinstance(given, Iterable) else []
    if len(values) == 3 and all(isinstance(x, numbers.Real) and abs(x) <= LARGEST_GRAVITY for x in values):
        return Vector(*map(float, values))
    raise OptionError(
        f"gravity {_told(given)} makes no sense; give three numbers in m/s^2, such as (0, 0, -9.81)"
    )


def _told(value: object) -> str:
    """A value that was passed, on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}..."


def design(robot: Robot, options: Options, progress: Progress = lambda _: None) -> Sources:
    """Trace, count, choose, simplify, fit and lay out: every file of the generated folder, as text."""
    functions = design_functions(robot, options, progress)
    if options.budget_flash is not None:
        functions = fitted(
            functions,
            lambda: smaller_forms(robot, options, progress),
            options.budget_flash,
            lambda tried: flash_bytes(emit(robot, tried, options), options, progress),
        )
    return emit(robot, functions, options)


def design_functions(
    robot: Robot, options: Options, progress: Progress = lambda _: None
) -> list[FunctionSource]:
    """The graph of every function asked for, several at once."""
    target_of(options).check_real(options.real)
    for name in options.functions:
        lookup(name)
    looped = {name for name, form in options.variants.items() if lookup(name).variant(form).compact}
    check_budget(robot.model, [name for name in options.functions if name not in looped], options.budget)
    facts_of(robot, options)  # a name that cannot be used is refused before the work, not after
    frames = search(robot.model) if options.savings else None
    progress("searched frames")
    tasks = {name: (robot, name, frames, options) for name in options.functions}
    return in_parallel(design_function, tasks, lambda name: progress(f"designed {name}"))


def smaller_forms(robot: Robot, options: Options, progress: Progress) -> dict[str, FunctionSource]:
    """The functions that have one in their smallest form; not those whose form is forced."""
    forms = {name: form.name for name in options.functions if (form := lookup(name).smallest)}
    forms = {name: form for name, form in forms.items() if name not in options.variants}
    if not forms:
        return {}
    other = replace(options, functions=tuple(forms), variants=forms, budget_flash=None)
    return {function.name: function for function in design_functions(robot, other, progress)}


def flash_bytes(sources: Sources, options: Options, progress: Progress) -> dict[str, int]:
    """Bytes of code and constants of every function, compiled for the options' target.

    What does not fit the target's part is measured all the same.
    """
    target = target_of(options)
    if target.embedded:
        measured = _with_figures(sources, replace(target, part=None), options, progress).manifest
    else:
        store = Cache(environment_cache())
        measured = json.loads(package_files(build(sources, toolchain(options), store))[MANIFEST])
    sizes = {name: facts["object_bytes"] for name, facts in measured["functions"].items()}
    if None in sizes.values():
        raise OptionError("--budget-flash: objects of this compiler cannot be measured; leave it out")
    progress(f"measured {sum(sizes.values())} bytes of flash")
    return sizes


def _with_figures(sources: Sources, target: Target, options: Options, progress: Progress) -> Sources:
    compiler = cross_compiler(target)
    if compiler is None:
        raise OptionError(f"no figures without {target.prefix}gcc; install it")
    report = lambda name, seconds: progress(f"compiled {name} in {seconds:.1f} s")  # noqa: E731
    return with_figures(sources, target, compiler, _flags(options), available_cores(), report)


def target_of(options: Options) -> Target:
    """The options' row of the table, with the RAM asked for."""
    target = target_named(options.target)
    return target if options.ram is None else target.with_ram(options.ram)


def emit(robot: Robot, functions: Sequence[FunctionSource], options: Options) -> Sources:
    """The functions laid out: every file of the generated folder, as text."""
    target = target_named(options.target)
    style = EmitOptions(
        options.real, options.trig, target.name, target.extensions, prefix=target.prefix, flags=target.flags
    )
    return render(facts_of(robot, options), functions, style)


def design_function(task: tuple[Robot, str, Frames | None, Options]) -> FunctionSource:
    """One function: the cheapest form, its passes, its order. What is emitted was checked here, once."""
    robot, name, frames, options = task
    function = lookup(name)
    forced = options.variants.get(name)
    if forced is None and not options.savings:
        forced = function.variants[0].name
    choice = choose(
        function,
        robot.model,
        frames,
        engine=options.engine,
        forced=forced,
        sums=options.trig != "input",
        lanes=lanes(options.real) if target_named(options.target).extensions else 1,
    )
    verify_program(choice.program)
    return FunctionSource(
        function.signature.sized(robot.model.sizes),
        choice.program,
        f"{choice.variant} ({choice.frames})",
        choice.program.cost,
        function.summary,
        choice.alternatives,
    )


def count(
    robot: Robot, functions: Sequence[str], progress: Progress = lambda _: None
) -> dict[str, tuple[str, Cost]]:
    """Form and operations of each function, as `design` would choose; nothing is emitted."""
    options = Options(functions=tuple(functions))
    check_budget(robot.model, functions, options.budget)
    frames = search(robot.model)
    progress("searched frames")
    tasks = {name: (robot, name, frames, options) for name in functions}
    chosen = in_parallel(design_function, tasks, lambda name: progress(f"counted {name}"))
    return {function.name: (function.variant, function.cost) for function in chosen}


def warnings_of(robot: Robot, options: Options | None = None) -> tuple[str, ...]:
    """What is odd about the description, and a name that the emitted files cannot bear as it is."""
    named = options is not None and options.name is not None
    renamed = None if named else renaming(robot.model.name)
    return robot.warnings if renamed is None else (*robot.warnings, renamed)


def facts_of(robot: Robot, options: Options) -> RobotFacts:
    """What the emitted files say of the robot."""
    model = robot.model
    body_names = {-1: "world"} | {i: body.name for i, body in enumerate(model.bodies)}
    joints = []
    for joint in robot.joints:
        limit = joint.limit
        ends = (limit.lower, limit.upper, limit.effort, limit.velocity) if limit else (None,) * 4
        angle = joint.kind is JointKind.REVOLUTE
        joints.append(JointFacts(joint.name, joint.kind.value, joint.idx_q, joint.idx_v, angle, *ends))
    return RobotFacts(
        name=robot_identifier(model.name) if options.name is None else options.name,
        robot_name=model.name,
        base=robot.base,
        nq=model.nq,
        nv=model.nv,
        nbodies=model.nbodies,
        joints=tuple(joints),
        bodies=tuple(map(_body_facts, model.bodies)),
        urdf_sha256=robot.description.sha256,
        version=__version__,
        gravity=(model.gravity.x, model.gravity.y, model.gravity.z),
        merged=tuple((merged.link, body_names[merged.body]) for merged in robot.merged),
        snapped=tuple((snapped.joint, snapped.change) for snapped in robot.snapped),
        warnings=tuple(text.removeprefix(f"{robot.description.path}:") for text in robot.warnings),
        options={**options.as_json(), "snap": robot.snap},
    )


def _body_facts(body: Body) -> BodyFacts:
    joint, inertia = body.joint, body.inertia
    return BodyFacts(
        name=body.name,
        parent=body.parent,
        joint=joint.name,
        kind=joint.kind.value,
        axis=tuple(map(float, joint.axis)),
        rotation=tuple(tuple(map(float, row)) for row in body.placement.rotation),
        translation=tuple(map(float, body.placement.translation)),
        mass=float(inertia.mass),
        first_moment=tuple(map(float, inertia.first_moment)),
        rotational_inertia=tuple(tuple(map(float, row)) for row in inertia.rotational),
    )


def designed(robot: Robot, options: Options, store: Cache, progress: Progress = lambda _: None) -> Sources:
    """`design`, from the cache where the same robot was designed with the same options before."""

    def fill(folder: Path) -> None:
        sources = design(robot, options, progress)
        text = json.dumps({"name": sources.name, "files": dict(sources.files)})
        (folder / "sources.json").write_text(text, encoding="utf-8")

    told = (generator_digest(), robot, options, _measured_with(options))
    key = hashlib.sha256(repr(told).encode()).hexdigest()
    content = json.loads((store.entry(f"design-{key}", fill) / "sources.json").read_text(encoding="utf-8"))
    return Sources(content["name"], content["files"])


def _measured_with(options: Options) -> Compiler | None:
    """The compiler that a design depends on: the one that a budget for flash was measured with."""
    if options.budget_flash is None:
        return None
    target = target_of(options)
    return cross_compiler(target) if target.embedded else find_compiler(environment_compiler())


@cache
def generator_digest() -> str:
    """A hash of the generator itself: another rbdgen designs anew."""
    digest = hashlib.sha256()
    for root, pattern in ((package_root(), "*.py"), (template_root(), "*.jinja")):
        for path in sorted(root.rglob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def toolchain(options: Options) -> Toolchain:
    """The compiler and flags of the options' target."""
    _, levels = architecture(options.arch)
    return Toolchain(find_compiler(environment_compiler()), _flags(options), available_cores(), levels)


def _flags(options: Options) -> tuple[str, ...]:
    flag, _ = architecture(options.arch)
    if options.arch != "native" and options.target != "host":
        raise OptionError(
            f"--arch {options.arch}: --target {options.target} has its own; leave one of them out"
        )
    changed = {"-march=native": flag}
    if options.contract:
        changed["-ffp-contract=off"] = "-ffp-contract=fast"
    return tuple(changed.get(flag, flag) for flag in target_named(options.target).flags)


def build_library(robot: Robot, options: Options, progress: Progress = lambda _: None) -> Library:
    """Design, compile and open; both steps from the cache where they were done before."""
    if target_of(options).embedded:
        raise OptionError(
            f"--target {options.target}: its code does not run on this machine; "
            "take --target host, or write a folder for it (rbdgen ROBOT.urdf, or rbdgen.pipeline.generate)"
        )
    _flags(options)
    store = Cache(environment_cache())
    sources = designed(robot, options, store, progress)
    report = lambda name, seconds: progress(f"compiled {name} in {seconds:.1f} s")  # noqa: E731
    return open_library(build(sources, toolchain(options), store, report))


def _check_path(out: Path) -> None:
    """`OptionError` where no file system has a folder of that name."""
    try:
        sound = b"\0" not in os.fsencode(out)
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise OptionError(f"{str(out)!r}: is no name of a folder; choose another one with -o")


@dataclass(frozen=True)
class Generated:
    """What `generate` left: the folder, and its manifest."""

    folder: Path
    manifest: dict[str, Any]


def generate(
    robot: Robot,
    options: Options,
    out: Path,
    *,
    compiled: bool = True,
    progress: Progress = lambda _: None,
) -> Generated:
    """Write the folder `out/<name>`: C, and with `compiled` a Python package that needs nothing of rbdgen.

    For a small machine there is no package; `compiled` then takes the figures of its objects.
    """
    _check_path(out)
    _flags(options)  # what contradicts is refused before the work, and without a compiler
    target = target_of(options)
    measured = compiled and target.embedded and cross_compiler(target) is not None
    if options.ram is not None and not measured:
        raise OptionError(
            f"--ram {options.ram}: needs figures, so no --no-compile, and {target.prefix}gcc installed"
        )
    if options.budget_flash is not None and not (measured or (compiled and not target.embedded)):
        raise OptionError(
            f"--budget-flash {options.budget_flash}: is kept by measuring, so no --no-compile, and "
            f"{target.prefix}gcc installed"
        )
    store = Cache(environment_cache())
    sources = designed(robot, options, store, progress)
    folder = out / sources.name
    report = lambda name, seconds: progress(f"compiled {name} in {seconds:.1f} s")  # noqa: E731
    if measured:
        sources = _with_figures(sources, target, options, progress)
    elif compiled and target.embedded:
        progress(f"took no figures: {target.prefix}gcc is not installed")
    if target.embedded or not compiled:
        write_folder(folder, sources.files)
        return Generated(folder, sources.manifest)
    files = package_files(build(sources, toolchain(options), store, report))
    write_folder(folder, files)
    return Generated(folder, json.loads(files["manifest.json"]))
