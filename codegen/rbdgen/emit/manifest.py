"""The manifest of a generated folder: what was generated, as JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rbdgen.emit.package import EmitOptions, FunctionSource, RobotFacts
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.program import Program
from rbdgen.signature import MANIFEST_FORMAT, SizedArgument


def manifest_text(
    facts: RobotFacts,
    functions: Sequence[FunctionSource],
    options: EmitOptions,
    sources: Mapping[str, str],
    files: Sequence[str],
    errors: Mapping[str, float],
) -> str:
    """The text of manifest.json.

    `sources`: the C text of every function; `files`: every file, in order; `errors`: of functions in float
    against double, where those were taken.
    """
    manifest = {
        "generator": "rbdgen",
        "format": MANIFEST_FORMAT,
        "rbdgen": facts.version,
        "name": facts.name,
        "robot_name": facts.robot_name,
        "urdf_sha256": facts.urdf_sha256,
        "base": facts.base,
        "real": options.real,
        "trig": options.trig,
        "target": options.target,
        "options": dict(facts.options),
        "nq": facts.nq,
        "nv": facts.nv,
        "nbodies": facts.nbodies,
        "gravity": list(facts.gravity),
        "manifold": [asdict(joint) for joint in facts.manifold.joints],
        "joints": [asdict(joint) for joint in facts.joints],
        "bodies": [asdict(body) for body in facts.bodies],
        "merged_links": [{"link": link, "body": body} for link, body in facts.merged],
        "snapped": [{"joint": joint, "change": change} for joint, change in facts.snapped],
        "warnings": list(facts.warnings),
        "functions": {
            function.name: _function(facts, function, sources[function.name])
            | ({"float_error": errors[function.name]} if function.name in errors else {})
            for function in functions
        },
        "files": list(files),
    }
    return json.dumps(manifest, indent=1, allow_nan=False) + "\n"


def _function(facts: RobotFacts, function: FunctionSource, source: str) -> dict[str, Any]:
    return {
        "symbol": f"{facts.name}_{function.name}",
        "source": f"{facts.name}_{function.name}.c",
        "summary": function.doc,
        "form": function.form,
        "axes": function.axes,
        "operations": operation_counts(function.cost),
        **({"loops": loops} if (loops := loop_counts(function.program)) else {}),
        "alternatives": {name: operation_counts(cost) for name, cost in function.alternatives.items()},
        "c_bytes": len(source.encode()),
        "inputs": [_argument(argument) for argument in function.signature.inputs],
        "outputs": [_argument(argument) for argument in function.signature.outputs],
    }


def loop_counts(program: Program) -> list[int]:
    """How often each loop of the C runs its straight line; what runs once is no loop."""
    return [loop.count for loop in program.loops if loop.count > 1]


def operation_counts(cost: Cost) -> dict[str, int]:
    """Operations by kind, and their total."""
    return {**asdict(cost), "total": cost.total}


def _argument(argument: SizedArgument) -> dict[str, Any]:
    return {
        "name": argument.name,
        "kind": argument.kind,
        "shape": list(argument.shape),
        "unit": argument.unit,
        "meaning": argument.meaning,
    }
