"""The functions of CasADi of a folder, a C file each."""

from __future__ import annotations

from rbdgen.emit.casadi.source import Callee, Place, Subject, casadi_source
from rbdgen.emit.folder import Folder, FolderFunction


def files(folder: Folder) -> dict[str, str]:
    """Those of one state a call, and of several where that is asked for; none where CasADi is not."""
    robot = folder.robot
    place = Place(folder.name, robot.of, robot.version, folder.facts.manifold)
    batches = {function.source.name for function in folder.batches}

    def callee(function: FolderFunction) -> Callee:
        return Callee(function.source.signature, function.source.name in batches)

    made = {}
    for function in folder.casadi:
        derivatives = folder.derivatives_of(function)
        subject = Subject(callee(function), None if derivatives is None else callee(derivatives))
        for knots in folder.casadi_knots:
            made[folder.casadi_file(function, knots)] = casadi_source(place, subject, knots)
    return made
