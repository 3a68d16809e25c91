"""The program that calls one function with arrays of exactly the sizes that the manifest states."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final

from rbdgen.emit.names import check_argument_name, check_identifier
from rbdgen.errors import EmitError, LoadError

RANGE: Final = (-3.0, 3.0)
"""The least and the largest value of every number of the inputs."""

_MOST: Final = 10_000_000
"""The largest size of an array."""


def harness(header: str, function: Mapping[str, Any], real: str) -> str:
    """The C of the program, which takes names and sizes from the manifest.

    The arrays of outputs have no values before the call, and all of them are read after it.

    Raises:
        LoadError: the manifest is not as rbdgen writes it.
    """
    try:
        arrays = [
            (_name(x["name"], kind), _size(x)) for kind in ("inputs", "outputs") for x in function[kind]
        ]
        symbol = check_identifier(function["symbol"])
        if real not in ("float", "double"):
            raise ValueError(f"numbers of the type {real!r}")
    except (KeyError, TypeError, ValueError, EmitError) as error:
        raise LoadError(
            f"manifest.json is not as rbdgen wrote it ({error}); generate the folder again"
        ) from error
    count = len(function["inputs"])
    low, high = RANGE
    suffix = "f" if real == "float" else ""
    lines = [f'#include "{header}"', '#include "__fc_builtin.h"', "", "int main(void)", "{"]
    lines += [f"    {real} {name}[{size}];" for name, size in arrays]
    lines.append(f"    {real} read = 0.0{suffix};")
    for name, size in arrays[:count]:
        value = f"Frama_C_{real}_interval({low}{suffix}, {high}{suffix})"
        lines += _loop(size, f"{name}[i] = {value};")
    lines.append(f"    {symbol}({', '.join(name for name, _ in arrays)});")
    for name, size in arrays[count:]:
        lines += _loop(size, f"read = {name}[i];")
    return "\n".join([*lines, f"    return read > 0.0{suffix};", "}", ""])


def _name(name: str, kind: str) -> str:
    """The name of an array, which is none of C's and none of the program's own."""
    check_argument_name(name)
    return f"{kind[:-1]}_{name}"


def _size(argument: Mapping[str, Any]) -> int:
    sizes = argument["shape"]
    if not all(isinstance(size, int) and size > 0 for size in sizes) or prod(sizes) > _MOST:
        raise ValueError(f"an array of the shape {sizes}")
    return prod(sizes)


def _loop(size: int, body: str) -> list[str]:
    return [f"    //@ loop unroll {size};", f"    for (int i = 0; i < {size}; ++i)", f"        {body}"]
