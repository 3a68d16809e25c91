"""The CasADi functions of a folder, one C file each."""

from __future__ import annotations

from rbdgen.emit.casadi.entries import Callee, Place
from rbdgen.emit.casadi.source import casadi_source
from rbdgen.emit.casadi.subjects import subject_of
from rbdgen.emit.folder import Folder


def files(folder: Folder) -> dict[str, str]:
    """Return the CasADi functions for one state per call, and for several if that is requested.

    The result is empty if CasADi functions are not requested.
    """
    robot = folder.robot
    place = Place(folder.name, robot.of, robot.version, folder.facts.manifold)
    batches = {function.source.name for function in folder.batches}
    callees = {
        name: Callee(function.source.signature, name in batches, function.source.dependence)
        for function in folder.functions
        for name in [function.source.name]
    }
    made = {}
    for function in folder.casadi:
        first = folder.derivatives_of(function)
        derivatives = None if first is None else first.source.name
        subject = subject_of(function.source.name, derivatives, callees.get)
        for knots in folder.casadi_knots:
            made[folder.casadi_file(function, knots)] = casadi_source(place, subject, knots)
    return made
