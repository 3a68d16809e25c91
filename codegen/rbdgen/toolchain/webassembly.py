"""The C of a folder as one WebAssembly module, compiled by clang and linked by wasm-ld.

WebAssembly has the numbers and the operations of IEEE 754, and the compiler fuses none of them, so that
results have the same bits as on other machines. There is no C library: a header of four lines stands in for
<math.h>, and the compiler's own headers are all else that the functions include. The same sources give the
same bytes with the same versions of both tools.

A function takes the addresses of its arrays in the memory that the module exports. The stack lies below the
constants at the beginning of this memory, so that an overflow traps; the memory from `__heap_base` on is the
caller's.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.emit.readme.files import module_page
from rbdgen.emit.text import copied
from rbdgen.errors import BuildError
from rbdgen.figures.objects import stack_bytes
from rbdgen.machine import available_cores
from rbdgen.toolchain.cache import Cache, user_cache
from rbdgen.toolchain.compiler import Compilation, Compiler, Processes, find_compiler
from rbdgen.toolchain.module import write_sources
from rbdgen.toolchain.objects import Objects
from rbdgen.toolchain.targets import TARGETS
from rbdgen.toolchain.watch import Watch

LINKER: Final = "wasm-ld"

INSTALL: Final = "apt install clang lld"

MATH: Final = "webassembly/math.h"
"""The header that stands in for that of a C library, among the templates and in a folder."""

TARGET_FLAGS: Final = ("--target=wasm32", "-nostdlibinc", "-ffreestanding")
"""The flags that select the machine, on which there is no C library."""

COMPILE_FLAGS: Final = (*TARGET_FLAGS, "-std=c99", "-Os", "-ffp-contract=off", "-fno-math-errno")

LINK_FLAGS: Final = ("--no-entry", "--strip-all", "--stack-first", "--export=__heap_base")

STACK: Final = 1 << 20
"""The bytes of the stack, which are more if a function needs more."""

_MARGIN: Final = 1 << 12
"""The bytes of stack that stay free below the function that needs most."""

_PAGE: Final = 1 << 16

_PLACED: Final = re.compile(r"^ *\S+ +[0-9a-f]+ +([0-9a-f]+) {9}(\w+)\.o:\(", re.MULTILINE)
"""A line of the linker's map: the size of a piece of code or constants, and its object."""


@dataclass(frozen=True)
class Tools:
    """The programs that make WebAssembly."""

    compiler: Compiler
    linker: str


@dataclass(frozen=True)
class Module:
    """A WebAssembly module, and the figures of its functions by name."""

    data: bytes
    object_bytes: Mapping[str, int]
    """The bytes of code and constants in the module."""
    stack_bytes: Mapping[str, int | None]
    """The bytes of stack in the module's memory. The engine keeps further values elsewhere."""
    seconds: Mapping[str, float]
    """The time that each compilation took."""


def find_tools(command: str | None = None) -> Tools:
    """The tools: clang, or `command` if it is another clang, and wasm-ld.

    Raises:
        BuildError: one of them is not installed.
    """
    compiler = None if command is None else find_compiler(command)
    if compiler is None or compiler.family != "clang":
        if shutil.which("clang") is None:
            raise BuildError(f"clang is not installed, which compiles WebAssembly; {INSTALL}")
        compiler = find_compiler("clang")
    if shutil.which(LINKER) is None:
        raise BuildError(f"{LINKER} is not installed, which links WebAssembly; {INSTALL}")
    return Tools(compiler, LINKER)


def compiled(folder: Path, manifest: Mapping[str, Any]) -> bytes:
    """One WebAssembly module with all functions of a generated folder, whose C must be portable.

    It exports every function by its name in C (`symbol` in the manifest), `memory` and `__heap_base`. The
    arguments of a function are the addresses of its inputs and then of its outputs, in bytes.

    Args:
        folder: the generated folder.
        manifest: its manifest.

    Raises:
        BuildError: clang or wasm-ld is missing or refuses the sources, the folder is for a machine with
            vectors, its sines are those of a C library, or a file is missing.
    """
    name = str(manifest["name"])
    if TARGETS[manifest["target"]].extensions or manifest["trig"] == "libm":
        raise BuildError(
            f"{folder}: its C needs vectors or a C library, which WebAssembly lacks; generate it with "
            "--target wasm32"
        )
    named = [*(row["source"] for row in manifest["functions"].values())]
    named += [file for file in manifest["files"] if file.endswith(".h") and "/" not in file]
    try:
        files = {file: (folder / file).read_text(encoding="utf-8") for file in (*named, MANIFEST)}
    except (OSError, ValueError) as error:
        raise BuildError(f"{folder}: cannot be read ({error}); generate it again") from error
    return linked(Sources(name, files), find_tools(), user_cache()).data


def linked(
    sources: Sources, tools: Tools, cache: Cache, jobs: int | None = None, watch: Watch | None = None
) -> Module:
    """Compiles and links the functions of a folder; objects come from the cache if they were compiled before.

    Raises:
        BuildError: a tool refuses its input.
    """
    symbols = {name: facts["symbol"] for name, facts in sources.manifest["functions"].items()}
    texts = {file: text for file, text in sources.files.items() if file.endswith((".c", ".h"))}
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as place:
        objects = Path(place) / "objects"
        objects.mkdir()
        write_sources(texts, Path(place) / sources.name)
        flags = (*COMPILE_FLAGS, "-fstack-usage", f"-I../{sources.name}", "-isystem", _header(Path(place)))
        compilations = {
            name: [Compilation(f"../{sources.name}/{file}", f"{name}.o", flags)]
            for name, file in sources.c_sources()
        }
        kept = Objects(sources.name, texts, tools.compiler, TARGET_FLAGS, cache)
        seconds = kept.compile(compilations, [], objects, jobs or available_cores(), watch or Watch())
        stacks = {name: stack_bytes(objects / f"{name}.su") for name in symbols}
        _link(tools.linker, symbols, _stack(stacks), objects)
        data = (objects / "module.wasm").read_bytes()
        sizes = _sizes((objects / "map.txt").read_text(encoding="utf-8"), symbols)
    return Module(data, sizes, stacks, {name: seconds[compilations[name][0].source] for name in symbols})


def with_module(sources: Sources, module: Module, tools: Tools) -> dict[str, str | bytes]:
    """The files of a folder with the module, which the manifest and the page of the folder describe."""
    manifest, name = sources.manifest, f"{sources.name}.wasm"
    for function, facts in manifest["functions"].items():
        facts["object_bytes"] = module.object_bytes[function]
        facts["stack_bytes"] = module.stack_bytes[function]
        facts["seconds"] = round(module.seconds[function], 3)
    manifest["build"] = {
        "webassembly": name,
        "sha256": {name: hashlib.sha256(module.data).hexdigest()},
        "compiler": tools.compiler.family,
        "version": tools.compiler.version,
        "flags": list(COMPILE_FLAGS),
    }
    manifest["files"].append(name)
    page = module_page(name, len(module.data), manifest["functions"])
    return {
        **sources.files,
        "README.md": sources.files["README.md"] + page,
        name: module.data,
        MANIFEST: json.dumps(manifest, indent=1, allow_nan=False) + "\n",
    }


def _header(place: Path) -> str:
    """Writes the header into a folder of its own, and returns its path, which has a hash of the header.

    The path is among the flags, so that objects that were compiled with another header are not taken from the
    cache.
    """
    text = copied(MATH)
    folder = f"headers-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    write_sources({"math.h": text}, place / folder)
    return f"../{folder}"


def _stack(stacks: Mapping[str, int | None]) -> int:
    """The bytes of the stack, whole pages."""
    most = max(stack or 0 for stack in stacks.values()) + _MARGIN
    return max(STACK, -(-most // _PAGE) * _PAGE)


def stack_flags(stack: int) -> tuple[str, str]:
    """The flags that give the module a stack of this size, in bytes."""
    return "-z", f"stack-size={stack}"


def _link(linker: str, symbols: Mapping[str, str], stack: int, folder: Path) -> None:
    exported = [f"--export={symbol}" for symbol in symbols.values()]
    objects = [f"{name}.o" for name in symbols]
    flags = (*LINK_FLAGS, *stack_flags(stack), *exported)
    command = [linker, *flags, "-o", "module.wasm", "-Map=map.txt", *objects]
    Processes().run(command, folder, "module.wasm", f"check {linker}, or report the generated file")


def _sizes(text: str, functions: Mapping[str, str]) -> dict[str, int]:
    """The bytes of each object in the module, from the linker's map."""
    sizes = dict.fromkeys(functions, 0)
    for size, name in _PLACED.findall(text):
        sizes[name] += int(size, 16)
    return sizes
