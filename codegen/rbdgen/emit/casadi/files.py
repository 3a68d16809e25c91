"""The CasADi functions of a folder, one C file each."""

from __future__ import annotations

from rbdgen.emit.casadi.entries import Callee, Place
from rbdgen.emit.casadi.request import knots_of
from rbdgen.emit.casadi.source import casadi_name, casadi_source
from rbdgen.emit.casadi.subjects import subject_of
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.functions.differentiated import MODES


def files(folder: Folder) -> dict[str, str]:
    """The files of CasADi functions, by path: for one state per call, and for several if requested."""
    robot = folder.robot
    place = Place(folder.name, robot.of, robot.version, folder.facts.manifold)
    batches = {function.source.name for function in folder.batches}
    callees = {
        name: Callee(function.source.signature, name in batches, function.source.dependence)
        for function in folder.functions
        for name in [function.source.name]
    }
    made = {}
    for function in _called(folder):
        first = folder.derivatives_of(function)
        derivatives = None if first is None else first.source.name
        subject = subject_of(function.source.name, derivatives, callees.get)
        for knots in knots_of(folder.options.emit):
            name = casadi_name(folder.name, function.source.name, knots)
            made[f"casadi/{name}.c"] = casadi_source(place, subject, knots)
    return made


def _called(folder: Folder) -> list[FolderFunction]:
    """The functions that CasADi calls by name, without those that are only derivatives of others."""
    names = {function.source.name for function in folder.functions}
    products = {f"{name}_{mode}" for name in names for mode in MODES}
    return [
        function
        for function in folder.functions
        if function.source.derivative_of not in names and function.source.name not in products
    ]
