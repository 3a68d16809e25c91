"""The functions of CasADi of a folder, a C file each."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.emit.casadi.entries import Callee, Place, Second, Subject
from rbdgen.emit.casadi.second import Array, second_derivatives
from rbdgen.emit.casadi.source import casadi_source
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.graph.programs.run import run


def files(folder: Folder) -> dict[str, str]:
    """Those of one state a call, and of several where that is asked for; none where CasADi is not."""
    robot = folder.robot
    place = Place(folder.name, robot.of, robot.version, folder.facts.manifold)
    batches = {function.source.name for function in folder.batches}

    def callee(function: FolderFunction) -> Callee:
        return Callee(function.source.signature, function.source.name in batches)

    def known(function: FolderFunction | None) -> Callee | None:
        return None if function is None else callee(function)

    made = {}
    for function in folder.casadi:
        vjp, hvp = (folder.named(f"{function.source.name}_{mode}") for mode in ("vjp", "hvp"))
        first = known(folder.derivatives_of(function))
        subject = Subject(callee(function), first, known(vjp), known(hvp), _second(folder, hvp))
        for knots in folder.casadi_knots:
            made[folder.casadi_file(function, knots)] = casadi_source(place, subject, knots)
    return made


def _second(folder: Folder, hvp: FolderFunction | None) -> Second | None:
    """Where second derivatives are not 0."""
    if hvp is None:
        return None
    signature = hvp.source.signature

    def evaluate(inputs: Mapping[str, Array]) -> dict[str, Array]:
        sizes = {x.name: x.shape for x in signature.inputs}
        flat = {
            name: array.reshape(*array.shape[: array.ndim - len(sizes[name])], -1)
            for name, array in inputs.items()
        }
        found = run(hvp.source.program, flat)
        return {x.name: found[x.name].reshape(*found[x.name].shape[:2], x.size) for x in signature.outputs}

    return second_derivatives(evaluate, signature, folder.facts.manifold)
