"""The CasADi functions of a folder, one C file each."""

from __future__ import annotations

from collections.abc import Mapping

from rbdgen.emit.casadi.entries import Callee, Place, Subject
from rbdgen.emit.casadi.request import knots_of
from rbdgen.emit.casadi.source import casadi_name, casadi_source
from rbdgen.emit.casadi.subjects import hessian_in, jacobian_in, subject_of
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.functions.differentiated import MODES


def files(folder: Folder) -> dict[str, str]:
    """The files of CasADi functions, by path: for one state per call, and for several if requested."""
    robot = folder.robot
    place = Place(folder.name, robot.of, robot.version, folder.facts.manifold)
    made = {}
    for subject in _called(folder, _subjects(folder)):
        for knots in knots_of(folder.options.emit):
            name = casadi_name(folder.name, subject.value.signature.name, knots)
            made[f"casadi/{name}.c"] = casadi_source(place, subject, knots)
    return made


def _subjects(folder: Folder) -> dict[str, Subject]:
    """Every function with those of its derivatives that the folder has, by name."""
    batches = {function.source.name for function in folder.batches}
    callees = {
        name: Callee(function.source.signature, name in batches, function.source.dependence)
        for function in folder.functions
        for name in [function.source.name]
    }
    return {function.source.name: _subject(folder, function, callees) for function in folder.functions}


def _subject(folder: Folder, function: FolderFunction, callees: Mapping[str, Callee]) -> Subject:
    value, flat = function.source.signature, folder.facts.manifold.flat
    first = folder.derivatives_of(function)
    derivatives = jacobian_in(value, callees.get, flat=flat) or (first.source.name if first else None)
    return subject_of(value.name, derivatives, callees.get, hessian_in(value, callees.get, flat=flat))


def _called(folder: Folder, subjects: Mapping[str, Subject]) -> list[Subject]:
    """The functions that CasADi calls by name, without those that are only derivatives of others."""
    used = [one for x in subjects.values() for one in (x.derivatives, x.hessian) if one is not None]
    derivatives = {one.signature.name for one in used}
    derivatives |= {f"{name}_{mode}" for name in subjects for mode in MODES}
    derivatives |= {x.source.name for x in folder.functions if x.source.derivative_of in subjects}
    return [subject for name, subject in subjects.items() if name not in derivatives]
