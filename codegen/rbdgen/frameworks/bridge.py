"""Compiles the C++ bridge between a framework and generated functions, once for each framework version."""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rbdgen.errors import BuildError
from rbdgen.options import environment_compiler
from rbdgen.resources import template_root
from rbdgen.runtime import Function
from rbdgen.toolchain.cache import user_cache
from rbdgen.toolchain.compiler import Processes, find_compiler

_FLAGS = ("-O2", "-fPIC", "-shared", "-w")


class Bridge:
    """A compiled bridge, loaded as `library`, and the functions that were registered with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = ctypes.PyDLL(str(path))  # keeps Python's lock, so that functions are added one by one
        self._known: dict[int, Function] = {}

    def key(self, function: Function, vjp: int = 0, jvp: int = 0, by: Sequence[int] = ()) -> int:
        """The number by which C++ finds a function; it registers the function if it is new.

        Processes with the same code have the same keys. The same code with other derivatives gets another
        key, because one library may have derivatives that another one lacks.

        Args:
            function: the function.
            vjp: the key of its product with J^T, 0 if C++ does not differentiate it.
            jvp: the key of its product with J, likewise.
            by: the numbers of the inputs with respect to which these are derivatives.
        """
        digest = hashlib.sha256(json.dumps([function.identity, vjp, jvp, *by]).encode()).digest()
        key = int.from_bytes(digest[:8], "big") >> 1
        if key not in self._known:
            arguments = (*function.signature.inputs, *function.signature.outputs)
            lengths = [n for argument in arguments for n in (len(argument.shape), *argument.shape)]
            self.library.rbdgen_add(
                ctypes.c_int64(key),
                ctypes.c_size_t(len(function.signature.inputs)),
                ctypes.c_size_t(len(arguments)),
                (ctypes.c_int64 * len(lengths))(*lengths),
                ctypes.c_void_p(function.address),
                ctypes.c_void_p(function.states_address),
                ctypes.c_int64(vjp),
                ctypes.c_int64(jvp),
                ctypes.c_size_t(len(by)),
                (ctypes.c_int64 * len(by))(*by),
                ctypes.c_size_t(sum(x.kind == "table" for x in function.signature.inputs)),
            )
            self._known[key] = function  # its code stays loaded
        return key

    def function(self, key: int) -> Function:
        """The function of a key."""
        return self._known[key]


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
