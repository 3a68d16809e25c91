"""The user's own functions that a generated folder contains, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rbdgen.functions.function import Call, Function, Identity
from rbdgen.runtime.library import signature_of
from rbdgen.signature import Argument, Signature, SizedArgument


def own_rows(manifest: Mapping[str, Any]) -> dict[str, Function]:
    """The rows of the user's own functions that a manifest lists, by name. They have no form, as the folder
    does not contain the user's text.
    """
    return {name: _row(name, manifest["functions"][name]) for name in manifest.get("own_functions", ())}


def _row(name: str, facts: Mapping[str, Any]) -> Function:
    sized = signature_of(name, facts)
    inputs, outputs = (tuple(map(_argument, some)) for some in (sized.inputs, sized.outputs))
    members = facts.get("members", ())
    return Function(
        Signature(name, inputs, outputs),
        facts["summary"],
        (),
        operations=lambda _: 0,
        identities=(_by_members(name, members),) if members else (),
    )


def _by_members(name: str, members: Sequence[str]) -> Identity:
    """A function has the outputs of the functions that it calls together."""

    def sides(call: Call, _: Mapping[str, Any]) -> tuple[Any, Any]:
        results = [call(member) for member in members]
        return call(name), tuple(y for x in results for y in (x if isinstance(x, tuple) else (x,)))

    return Identity(f"{name} = {', '.join(members)}", tuple(members), sides)


def _argument(x: SizedArgument) -> Argument:
    shape = x.shape if x.dense is None else x.dense
    return Argument(x.name, x.kind, shape, x.unit, x.meaning, x.symmetric, packed=x.dense is not None)
