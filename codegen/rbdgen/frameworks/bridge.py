"""Compiles the C++ bridge between a framework and generated functions, once for each framework version."""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

from rbdgen.errors import BuildError
from rbdgen.options import environment_compiler
from rbdgen.resources import template_root
from rbdgen.runtime import Function
from rbdgen.toolchain.cache import user_cache
from rbdgen.toolchain.compiler import Processes, find_compiler

_FLAGS = ("-O2", "-fPIC", "-shared", "-w")


class Role(IntEnum):
    """The role of a function in a framework, as in `templates/frameworks/functions.h`."""

    VALUE = 0
    TRANSPOSED = 1
    """The product of J^T with vectors."""
    ALONG = 2
    """The product of J with vectors."""


@dataclass(frozen=True)
class Products:
    """The derivatives that C++ takes for a function f, or for a product with its Jacobians."""

    vjp: int
    """The key of the product with J^T."""
    jvp: int
    """The key of the product with J."""
    by: tuple[int, ...]
    """The numbers of the inputs of f with respect to which these are derivatives."""
    point: int
    """The number of inputs of f."""
    curved: tuple[int, ...]
    """The inputs in `by` that are configurations."""
    quaternions: tuple[int, ...]
    """The indices of the first elements of quaternions in configurations."""
    role: Role = Role.VALUE


class Bridge:
    """A compiled bridge, loaded as `library`, and the functions that were registered with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = ctypes.PyDLL(str(path))  # keeps Python's lock, so that functions are added one by one
        self._known: dict[int, Function] = {}

    def key(self, function: Function, products: Products | None = None) -> int:
        """The number by which C++ finds a function; it registers the function if it is new.

        Processes with the same code have the same keys. The same code with other derivatives gets another
        key, because one library may have derivatives that another one lacks. Without `products`, C++ does not
        differentiate the function.
        """
        count = len(function.signature.inputs)
        known = products or Products(0, 0, (), count, (), ())
        digest = hashlib.sha256(json.dumps([function.identity, *astuple(known)]).encode()).digest()
        key = int.from_bytes(digest[:8], "big") >> 1
        if key not in self._known:
            arguments = (*function.signature.inputs, *function.signature.outputs)
            lengths = [n for argument in arguments for n in (len(argument.shape), *argument.shape)]
            self.library.rbdgen_add(
                ctypes.c_int64(key),
                ctypes.c_size_t(count),
                ctypes.c_size_t(len(arguments)),
                (ctypes.c_int64 * len(lengths))(*lengths),
                ctypes.c_void_p(function.address),
                ctypes.c_void_p(function.states_address),
                ctypes.c_int64(known.vjp),
                ctypes.c_int64(known.jvp),
                *_numbers(known.by),
                ctypes.c_size_t(sum(x.kind == "table" for x in function.signature.inputs)),
                ctypes.c_int64(known.role),
                ctypes.c_size_t(known.point),
                *_numbers(known.quaternions),
                *_numbers(known.curved),
            )
            self._known[key] = function  # its code stays loaded
        return key

    def function(self, key: int) -> Function:
        """The function of a key."""
        return self._known[key]


def _numbers(values: Sequence[int]) -> tuple[Any, Any]:
    """The length and the numbers of a list, for C++."""
    return ctypes.c_size_t(len(values)), (ctypes.c_int64 * len(values))(*values)


@cache
def compiled(framework: str, version: str, flags: tuple[str, ...], libraries: tuple[str, ...] = ()) -> Bridge:
    """The bridge to a framework; the cache keeps compiled bridges.

    Args:
        framework: the name of the framework, which is that of the bridge's source file.
        version: the version of the framework.
        flags: the compiler's flags for the framework's headers and version of C++.
        libraries: the linker's flags.

    Raises:
        BuildError: there is no C++ compiler, or it refuses the framework's headers.
    """
    compiler = find_compiler(environment_compiler())
    source = f"{framework}.cc"
    files = {name: (template_root() / "frameworks" / name).read_text() for name in (source, "functions.h")}
    command = [
        *compiler.command,
        "-x",
        "c++",
        *_FLAGS,
        *flags,
        source,
        "-o",
        "bridge.so",
        *libraries,
        "-lstdc++",
    ]
    remedy = f"it needs g++ (apt install g++), and headers as {framework} {version} brings them"
    content = [files, version, command, compiler.version]
    key = hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def fill(folder: Path) -> None:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        Processes().run(command, folder, f"lib.{framework}", remedy)

    with user_cache().using(key, fill) as folder:
        return Bridge(folder / "bridge.so")


def existing(framework: str, version: str, folders: Sequence[str], header: str) -> tuple[str, ...]:
    """The compiler's flags for folders of headers. Raises BuildError if none of them contains `header`."""
    if not any((Path(folder) / header).is_file() for folder in folders):
        raise BuildError(
            f"lib.{framework}: the header {header} is not among those of {framework} {version}; "
            f"install it again: pip install 'rbdgen[{framework}]'"
        )
    return tuple(word for folder in folders for word in ("-isystem", folder))
