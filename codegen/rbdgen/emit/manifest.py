"""The manifest of a generated folder, which describes the robot, the functions and the files in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.package import MANIFEST, BodyFacts, FunctionSource, RobotFacts
from rbdgen.emit.spaces import manifold_rows
from rbdgen.graph.bounds.found import Bounds
from rbdgen.graph.cost import Cost
from rbdgen.graph.programs.nests import run_counts
from rbdgen.signature import MANIFEST_FORMAT, SizedArgument, ranges_text


def manifest_text(folder: Folder, files: Mapping[str, str]) -> str:
    """The text of manifest.json, which lists `files` and itself."""
    facts, options = folder.facts, folder.options
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
        **manifold_rows(facts.manifold),
        "joints": [asdict(joint) for joint in facts.joints],
        **({"mimic": [asdict(follower) for follower in facts.followers]} if facts.followers else {}),
        "bodies": [_body(body) for body in facts.bodies],
        **({"resistance": [asdict(row) for row in facts.resistance]} if facts.resistance else {}),
        **(_loops(facts) if facts.loops else {}),
        **(_frames(facts) if facts.frames else {}),
        **(_contacts(facts) if facts.contacts else {}),
        **({"distance_pairs": asdict(facts.distances)} if facts.distances else {}),
        **({"base_parameters": asdict(facts.base_parameters)} if facts.base_parameters else {}),
        **(_parameters(facts) if facts.parameters else {}),
        **({"own_functions": list(facts.own)} if facts.own else {}),
        "merged_links": [{"link": link, "body": body} for link, body in facts.merged],
        "snapped": [{"joint": joint, "change": change} for joint, change in facts.snapped],
        "warnings": list(facts.warnings),
        "functions": {f.source.name: _function(f, files[f.shown.file]) for f in folder.functions},
        "files": [*files, MANIFEST],
    }
    return json.dumps(manifest, indent=1, allow_nan=False) + "\n"


def _body(body: BodyFacts) -> dict[str, Any]:
    """The facts of a body, without the entries that it does not have."""
    return {name: value for name, value in asdict(body).items() if value is not None and value is not False}


def _loops(facts: RobotFacts) -> dict[str, Any]:
    """The closed loops, their independent rows, and the independent velocities."""
    rows, velocities = facts.independent_rows, facts.independent_velocities
    return {
        "nloop": facts.nloop,
        "loops": [asdict(loop) for loop in facts.loops],
        "independent_loop_rows": None if rows is None else list(rows),
        **(
            {"nindependent": len(velocities), "independent_velocities": list(velocities)}
            if velocities
            else {}
        ),
    }


def _frames(facts: RobotFacts) -> dict[str, Any]:
    """The frames that were chosen for functions of frames, in order."""
    return {"nf": len(facts.frames), "frames": [asdict(frame) for frame in facts.frames]}


def _contacts(facts: RobotFacts) -> dict[str, Any]:
    """The contacts that functions use, in the order of their rows, the plan of their solver, and the named
    subsets of them.
    """
    sets = {name: list(names) for name, names in facts.contact_sets.items()}
    return {
        "contacts": [asdict(contact) for contact in facts.contacts],
        "contact_solver": list(facts.contact_solver),
        **({"contact_with": list(facts.contact_with)} if facts.contact_with else {}),
        **({"contact_sets": sets} if sets else {}),
    }


def _parameters(facts: RobotFacts) -> dict[str, Any]:
    """The numbers of the robot that stay inputs, and the links to which they belong."""
    return {
        "parameters": [asdict(row) for row in facts.parameters],
        "parameter_links": [asdict(row) for row in facts.parameter_links],
        **({"log_cholesky": list(facts.log_cholesky)} if facts.log_cholesky else {}),
    }


def _function(described: FolderFunction, text: str) -> dict[str, Any]:
    function, error = described.source, described.float_error
    return {
        "symbol": described.shown.symbol,
        "source": described.shown.file,
        "summary": function.doc,
        "form": function.form,
        "axes": function.axes,
        "operations": operation_counts(function.cost),
        **({"members": list(function.members)} if function.members else {}),
        **({"derivative_of": function.derivative_of} if function.derivative_of else {}),
        **({"dependence": _dependence(function)} if function.dependence else {}),
        **({"loops": loops} if (loops := run_counts(function.program)) else {}),
        **({} if function.same_bits else {"batch_operations": _batch_operations(function)}),
        "alternatives": {name: operation_counts(cost) for name, cost in function.alternatives.items()},
        "c_bytes": len(text.encode()),
        **({"cuda": described.kernel.facts()} if described.kernel else {}),
        "inputs": [_argument(argument) for argument in function.signature.inputs],
        "outputs": [_argument(argument) for argument in function.signature.outputs],
        **({} if error is None else {"float_error": error}),
        **({"bounds": _bounds(function.bounds)} if function.bounds else {}),
    }


def _batch_operations(function: FunctionSource) -> dict[str, int]:
    """The operations of a batch function that has a program of its own."""
    assert function.batch is not None
    return operation_counts(function.batch.cost)


def _bounds(bounds: Bounds) -> dict[str, Any]:
    """The bounds of a function, without its name."""
    return {name: value for name, value in bounds.as_json().items() if name != "function"}


def _dependence(function: FunctionSource) -> dict[str, dict[str, str]]:
    return {
        output: {direction: ranges_text(pairs) for direction, pairs in by.items()}
        for output, by in function.dependence.items()
    }


_ALWAYS_COUNTED: Final = frozenset({"add", "sub", "mul", "div", "neg", "sq", "sqrt", "sin", "cos"})


def operation_counts(cost: Cost) -> dict[str, int]:
    """Operations by kind, and their total.

    Signs (of friction), joins and turns (of lanes) and further functions appear only if there are any.
    """
    counts = {kind: count for kind, count in cost.counts.items() if count or kind in _ALWAYS_COUNTED}
    return {**counts, "total": cost.total}


def _argument(argument: SizedArgument) -> dict[str, Any]:
    return {
        "name": argument.name,
        "kind": argument.kind,
        "shape": list(argument.shape),
        "unit": argument.unit,
        "meaning": argument.meaning,
        **({} if argument.symmetric is None else {"symmetric": list(argument.symmetric)}),
        **({} if argument.dense is None else {"dense_shape": list(argument.dense)}),
        **({} if argument.nonzero is None else {"nonzero": ranges_text(argument.nonzero)}),
        **({} if argument.default is None else {"default": list(argument.default)}),
        **({} if argument.range is None else {"range": list(argument.range)}),
    }
