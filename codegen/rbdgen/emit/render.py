"""All files of a generated folder as texts: contexts into templates, nothing written to disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rbdgen.emit.c.batch import (
    lanes_context,
    lanes_sincos_context,
    lanes_style,
    vectors_context,
    with_batches,
)
from rbdgen.emit.c.context import (
    CFunction,
    CGolden,
    body_context,
    function_context,
    golden_context,
    restrict_macro,
    robot_context,
    sincos_block,
    sincos_context,
    style_context,
)
from rbdgen.emit.c.real import real_type
from rbdgen.emit.golden import Golden, float_error, golden_vectors
from rbdgen.emit.manifest import manifest_text
from rbdgen.emit.names import markdown_text
from rbdgen.emit.numbers import literal
from rbdgen.emit.package import (
    ATTRIBUTES,
    MANIFEST,
    PRIVATE,
    EmitOptions,
    FunctionSource,
    JointFacts,
    RobotFacts,
    Sources,
)
from rbdgen.errors import EmitError
from rbdgen.machine import lanes
from rbdgen.resources import package_root, template_root

LOADER = (
    "errors.py",
    "signature.py",
    "runtime/__init__.py",
    "runtime/arrays.py",
    "runtime/configuration.py",
    "runtime/extension.py",
    "runtime/function.py",
    "runtime/library.py",
    "runtime/pickled.py",
)
"""Modules of rbdgen that every generated package carries a copy of."""

_UNWRITTEN = 1e30


def render(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions | None = None,
    golden: Mapping[str, Golden] | None = None,
) -> Sources:
    """The whole folder.

    Args:
        facts: what to say of the robot.
        functions: in the order in which they shall be listed.
        options: precision, trigonometry, style.
        golden: for every function its golden vectors; computed where not given.

    Raises:
        EmitError: a name, a number or a graph that cannot be printed; no function; a function twice.
    """
    options = options or EmitOptions()
    real_type(options.real)
    _check_names(functions)
    if golden is None:
        golden = {f.name: golden_vectors(facts, f, options.real) for f in functions}
    files = _c_files(facts, functions, options, golden)
    headers = _headers(files)
    if batch_functions := with_batches(functions, options):
        files |= _batch_files(facts, batch_functions, options, golden)
    files |= _build_files(facts, functions, options, headers, _headers(files))
    files |= _python_files(facts, functions, options)
    files["README.md"] = _readme(facts, functions, options)
    c_texts = {f.name: files[f"{facts.name}_{f.name}.c"] for f in functions}
    names = [*files, MANIFEST]
    errors = {f.name: float(f"{float_error(facts, f):.2g}") for f in functions} if options.small_float else {}
    files[MANIFEST] = manifest_text(facts, functions, options, c_texts, names, errors)
    return Sources(facts.name, files)


def _headers(files: Mapping[str, str]) -> list[str]:
    return [name for name in files if name.endswith(".h")]


def _check_names(functions: Sequence[FunctionSource]) -> None:
    names = [function.name for function in functions]
    if not names:
        raise EmitError("no function to emit; name at least one")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise EmitError(f"function '{twice[0]}' is to be emitted twice; name every function once")


def _c_files(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions,
    golden: Mapping[str, Golden],
) -> dict[str, str]:
    robot = robot_context(facts, options)
    contexts = [function_context(facts, function, options.real) for function in functions]
    files = {f"{facts.name}.h": _text("c/ROBOT.h.jinja", robot=robot, functions=contexts)}
    angles = sincos_block(functions)
    if options.trig == "builtin" and angles:
        shape = sincos_context(facts, options, angles)
        files[f"{facts.name}_sincos.h"] = _text("c/sincos.h.jinja", **shape)
    style = style_context(facts, options, angles)
    vectors = vectors_context(facts, options)
    for function, context in zip(functions, contexts, strict=True):
        body = body_context(function.program, context.symbol, style, restrict_macro(facts), vectors)
        files[context.file] = _text("c/ROBOT_FUNCTION.c.jinja", robot=robot, function=context, body=body)
        if body.loops and body.loops.vector:
            files |= _lanes_file(facts, options)
    files[f"{facts.name}_selftest.c"] = _text(
        "c/ROBOT_selftest.c.jinja",
        robot=robot,
        functions=_tested(functions, contexts, options, golden),
        unwritten=literal(_UNWRITTEN, options.real),
    )
    return files


def _batch_files(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions,
    golden: Mapping[str, Golden],
) -> dict[str, str]:
    """The batch functions of functions, for compilers with vector types."""
    robot = robot_context(facts, options)
    contexts = [function_context(facts, function, options.real) for function in functions]
    files = {
        f"{facts.name}_batch.h": _text("c/ROBOT_batch.h.jinja", robot=robot, functions=contexts),
        **_lanes_file(facts, options),
    }
    if options.trig == "builtin" and sincos_block(functions):
        shape = lanes_sincos_context(facts, options)
        files[f"{facts.name}_lanes_sincos.h"] = _text("c/sincos.h.jinja", **shape)
    style = lanes_style(facts, options)
    for function, context in zip(functions, contexts, strict=True):
        assert function.batch is not None
        body = body_context(function.batch, context.symbol, style, "restrict", tile=lanes(options.real))
        files[context.batch] = _text(
            "c/ROBOT_FUNCTION_batch.c.jinja", robot=robot, function=context, body=body
        )
    files[f"{facts.name}_batch_selftest.c"] = _text(
        "c/ROBOT_batch_selftest.c.jinja",
        robot=robot,
        functions=_tested(functions, contexts, options, golden),
        unwritten=literal(_UNWRITTEN, options.real),
    )
    return files


def _tested(
    functions: Sequence[FunctionSource],
    contexts: Sequence[CFunction],
    options: EmitOptions,
    golden: Mapping[str, Golden],
) -> list[tuple[CFunction, CGolden]]:
    """What a self-test tries."""
    return [
        (context, golden_context(function, golden[function.name], options.real))
        for function, context in zip(functions, contexts, strict=True)
    ]


def _lanes_file(facts: RobotFacts, options: EmitOptions) -> dict[str, str]:
    """The header of the vector type."""
    robot = robot_context(facts, options)
    return {
        f"{facts.name}_lanes.h": _text("c/ROBOT_lanes.h.jinja", robot=robot, lanes=lanes_context(options))
    }


def _build_files(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions,
    headers: Sequence[str],
    batch_headers: Sequence[str],
) -> dict[str, str]:
    """What a C or C++ project takes the folder in with."""
    batch_functions = with_batches(functions, options)
    common = {
        "robot": robot_context(facts, options),
        "functions": [function_context(facts, function, options.real) for function in functions],
        "batch_functions": [function_context(facts, function, options.real) for function in batch_functions],
        "headers": headers,
        "batch_headers": batch_headers,
        "prefix": options.prefix,
        "flags": " ".join(options.flags),
    }
    return {
        f"{facts.name}.hpp": _text("c/ROBOT.hpp.jinja", **common),
        "Makefile": _text("c/Makefile.jinja", **common),
        "CMakeLists.txt": _text("c/CMakeLists.txt.jinja", **common),
    }


def _python_files(
    facts: RobotFacts, functions: Sequence[FunctionSource], options: EmitOptions
) -> dict[str, str]:
    robot = robot_context(facts, options)
    contexts = [function_context(facts, function, options.real) for function in functions]
    exported = sorted([*ATTRIBUTES, *(function.name for function in functions)])
    names = {function.name for function in with_batches(functions, options)}
    batch_functions = [context for context in contexts if context.name in names]
    common = {"robot": robot, "functions": contexts, "exported": exported, "batch_functions": batch_functions}
    files = {
        "__init__.py": _text("python/__init__.py.jinja", **common),
        "__init__.pyi": _text("python/__init__.pyi.jinja", numpy=real_type(options.real).numpy, **common),
        "py.typed": "",
        f"{PRIVATE}/__init__.py": '"""A copy of the loader of rbdgen, and the C that binds the robot."""\n',
        f"{PRIVATE}/binding.h": _text("python/binding.h.jinja", **common),
        f"{PRIVATE}/binding.c": _text("python/binding.c.jinja", **common),
        f"{PRIVATE}/calls.c": _text("python/calls.c.jinja", **common),
        f"{PRIVATE}/processor.c": _text("python/processor.c.jinja", **common),
        f"{PRIVATE}/stream.h": _text("python/stream.h.jinja", **common),
        f"{PRIVATE}/threads.h": _text("python/threads.h.jinja", **common),
        f"{PRIVATE}/threads.c": _text("python/threads.c.jinja", **common),
    }
    if batch_functions:
        files[f"{PRIVATE}/dispatch.h"] = _text("python/dispatch.h.jinja", **common)
    for module in LOADER:
        files[f"{PRIVATE}/{module}"] = (package_root() / module).read_text(encoding="utf-8")
    return files


def _readme(facts: RobotFacts, functions: Sequence[FunctionSource], options: EmitOptions) -> str:
    contexts = [function_context(facts, function, options.real) for function in functions]
    return _text(
        "README.md.jinja",
        robot=robot_context(facts, options),
        title=markdown_text(facts.robot_name),
        prefix=options.prefix,
        flags=" ".join(options.flags),
        rows=[_readme_row(f, c) for f, c in zip(functions, contexts, strict=True)],
        example=contexts[0],
        batches=bool(with_batches(functions, options)),
        joints=[
            {
                "name": markdown_text(joint.name),
                "idx_q": joint.idx_q,
                "idx_v": joint.idx_v,
                "limits": _limits(joint),
            }
            for joint in facts.joints
        ],
    )


def figures_page(target: str, compiler: str, flags: str, functions: Mapping[str, Mapping[str, Any]]) -> str:
    """What to append to README.md: a table of the figures that a cross compiler's objects show.

    `functions`: name -> the manifest's facts, with `object_bytes`, `stack_bytes`, `instructions`, `outside`.
    """
    rows = [
        {
            "name": name,
            "flash": f"{facts['object_bytes']}",
            "stack": f"{facts['stack_bytes']}",
            "instructions": f"{facts['instructions']}",
            "error": f"{facts['float_error']:.1e}" if "float_error" in facts else "",
        }
        for name, facts in functions.items()
    ]
    outside = sorted({symbol for facts in functions.values() for symbol in facts["outside"]})
    return _text(
        "FIGURES.md.jinja", target=target, compiler=compiler, flags=flags, rows=rows, outside=outside
    )


def _readme_row(function: FunctionSource, context: CFunction) -> dict[str, str]:
    return {
        "symbol": context.symbol,
        "doc": function.doc.replace("|", "\\|"),
        "inputs": "<br>".join(argument.doc for argument in context.inputs),
        "outputs": "<br>".join(argument.doc for argument in context.outputs),
        "operations": str(function.cost),
    }


def _limits(joint: JointFacts) -> list[str]:
    limits = (joint.lower, joint.upper, joint.effort, joint.velocity)
    return ["" if limit is None else f"{limit:.6g}" for limit in limits]


@cache
def _environment() -> Environment:
    # No autoescape: the output is C, Python and Markdown. What comes from a description was made a checked
    # identifier or an escaped comment before it got here.
    return Environment(
        loader=FileSystemLoader(template_root()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _text(template: str, **context: object) -> str:
    return _environment().get_template(template).render(context)
