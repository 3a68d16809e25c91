"""The ES module of a folder: its functions as calls in JavaScript, whatever computes them, and their types.

A backend adds the engine, which computes, and how the module is loaded. `templates/module/interface.mjs` says
what an engine does.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

from rbdgen.emit.contexts import CArgument
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.text import copied, filled
from rbdgen.errors import EmitError
from rbdgen.signature import SizedArgument, SizedSignature

NUMBERS: Final = {"double": "Float64Array", "float": "Float32Array"}
"""The typed arrays of the types of numbers."""

TAKEN: Final = frozenset({"array", "then"})
"""Names that no function can have besides those that no function of a package has: an attribute of the robot,
and what makes `await` take the robot for a promise.
"""


@dataclass(frozen=True)
class Typed:
    """An argument as the declarations of types show it."""

    name: str
    doc: str
    scalar: bool
    optional: bool
    shared: bool
    """Whether all functions share the array, so that calls do not take it: the table of parameters."""


@dataclass(frozen=True)
class TypedFunction:
    """A function as the declarations of types show it."""

    name: str
    doc: str
    inputs: tuple[Typed, ...]
    outputs: tuple[Typed, ...]
    rolled: tuple[str, ...] = ()
    """The names of the results of its rollout; empty if it is no step."""
    control: str = ""
    """The input that has a row for each step of a rollout."""

    @property
    def taken(self) -> list[Typed]:
        """The inputs that calls take."""
        return [argument for argument in self.inputs if not argument.shared]

    @property
    def owned(self) -> list[Typed]:
        """The arrays that a prepared call may be given."""
        return [argument for argument in (*self.inputs, *self.outputs) if not argument.shared]

    @property
    def optional(self) -> bool:
        """Whether a call needs no argument."""
        return all(argument.optional for argument in self.taken)


def es_module(folder: Folder, *, how: str, engine: str, loading: str) -> dict[str, str]:
    """The module and its types, by path.

    Args:
        folder: the folder.
        how: a sentence that says what computes.
        engine: the engine and `load`, as JavaScript.
        loading: the declaration of `load` in TypeScript.

    Raises:
        EmitError: a function has the name of something else in the module.
    """
    for function in folder.functions:
        if function.source.name in TAKEN:
            raise EmitError(
                f"a function cannot be named '{function.source.name}', which JavaScript modules need for "
                "something else; take another name"
            )
    context = {
        "robot": folder.robot,
        "numbers": NUMBERS[folder.options.real],
        "functions": [_typed(function) for function in folder.functions],
    }
    module = filled(
        "module/ROBOT.mjs.jinja",
        **context,
        how=how,
        example=folder.functions[0].shown,
        manifest=_json(_manifest(folder)),
        rows=_rows(folder),
        interface=copied("module/interface.mjs"),
        engine=engine,
    )
    # A page may hold the module, whose comments must not end a script. Strings have no "<", and code no "</".
    module = module.replace("</", "< /").replace("<!--", "< !--")
    types = filled("module/ROBOT.d.mts.jinja", **context, loading=loading)
    return {f"{folder.name}.mjs": module, f"{folder.name}.d.mts": types}


def _typed(function: FolderFunction) -> TypedFunction:
    signature, shown = function.source.signature, function.shown
    rolling = signature.rolling
    rolled: dict[str, Any] = {}
    if rolling is not None:
        names = [x.name for x in signature.outputs[rolling.state :]]
        rolled = {
            "rolled": (*(x.name for x in signature.inputs[: rolling.state]), *names),
            "control": signature.inputs[rolling.control].name,
        }
    return TypedFunction(
        shown.name,
        shown.doc,
        tuple(map(_argument, signature.inputs, shown.inputs)),
        tuple(map(_argument, signature.outputs, shown.outputs)),
        **rolled,
    )


def _argument(argument: SizedArgument, shown: CArgument) -> Typed:
    return Typed(argument.name, shown.doc, not argument.shape, shown.optional, argument.kind == "table")


def _manifest(folder: Folder) -> dict[str, Any]:
    """The facts of the robot that a program in JavaScript may want."""
    facts = folder.facts
    return {
        "name": facts.name,
        "robot_name": facts.robot_name,
        "base": facts.base,
        "real": folder.options.real,
        "nq": facts.nq,
        "nv": facts.nv,
        "nbodies": facts.nbodies,
        "neutral": facts.manifold.neutral().tolist(),
        "joints": [asdict(joint) for joint in facts.joints],
        "frames": [frame.name for frame in facts.frames],
        "contacts": [
            {"name": x.name, "kind": x.kind, "rows": x.rows, "first_row": x.first_row} for x in facts.contacts
        ],
        "parameters": [asdict(row) for row in facts.parameters],
    }


def _rows(folder: Folder) -> list[str]:
    """The facts of each function."""
    return [
        _json(
            {
                "name": function.source.name,
                "symbol": function.shown.symbol,
                "summary": function.source.doc,
                "inputs": list(map(_row, function.source.signature.inputs)),
                "outputs": list(map(_row, function.source.signature.outputs)),
                **_rolling(function.source.signature),
            }
        )
        for function in folder.functions
    ]


def _rolling(signature: SizedSignature) -> dict[str, Any]:
    """The names of the arguments that a rollout of a step needs; an empty dictionary for other functions."""
    rolling = signature.rolling
    if rolling is None:
        return {}
    return {"rolling": {"state": rolling.state, "control": rolling.control, "further": list(rolling.further)}}


def _row(argument: SizedArgument) -> dict[str, Any]:
    return {
        "name": argument.name,
        "kind": argument.kind,
        "shape": list(argument.shape),
        "unit": argument.unit,
        "meaning": argument.meaning,
        **({} if argument.default is None else {"default": list(argument.default)}),
    }


def _json(value: Any) -> str:
    """A value as JavaScript that may also stand in a page: no text of it ends a script."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
