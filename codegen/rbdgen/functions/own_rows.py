"""The user's own functions that a generated folder contains, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rbdgen.functions.function import Function
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
    return Function(Signature(name, inputs, outputs), facts["summary"], (), operations=lambda _: 0)


def _argument(x: SizedArgument) -> Argument:
    shape = x.shape if x.dense is None else x.dense
    return Argument(x.name, x.kind, shape, x.unit, x.meaning, x.symmetric, packed=x.dense is not None)
