"""Functions of a folder, and C that calls them, as one shared library for programs other than Python."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rbdgen.emit.package import Sources
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import Compilation, link
from rbdgen.toolchain.module import Toolchain, build_key, function_compilations, write_sources
from rbdgen.toolchain.objects import Objects
from rbdgen.toolchain.watch import Watch


@contextmanager
def shared_library(
    sources: Sources,
    callers: Mapping[str, str],
    toolchain: Toolchain,
    cache: Cache,
    watch: Watch | None = None,
) -> Iterator[Path]:
    """Gives the path of the library, which is built if the cache lacks it. The library is kept as long as the
    context lasts, and other code has another path.

    `callers` are C files in folders of their own; the library has the functions of the folder that they
    call. Batch functions are compiled for the oldest processor that the toolchain's flags name. Raises
    BuildError as `module.build` does.
    """
    toolchain = replace(toolchain, levels=())
    content = [build_key(Sources(sources.name, {**sources.files, **callers}), toolchain), *callers]
    key = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    called = set(re.findall(rf"\b{sources.name}_(\w+)\(", "".join(callers.values())))

    def fill(folder: Path) -> None:
        texts = {file: text for file, text in sources.files.items() if file.endswith((".c", ".h"))}
        write_sources({**texts, **callers}, folder / sources.name)
        objects = folder / "objects"
        objects.mkdir()
        single, batch = function_compilations(sources, toolchain)
        functions: dict[str, list[Compilation]] = {}
        for one in [*single, *(one.compilation for one in batch)]:
            name = one.target.removesuffix(".o")
            if name in called:
                functions[name] = [one]
        flags, by = toolchain.function_flags, toolchain.for_calls()
        for k, file in enumerate(callers):
            caller = Compilation(f"../{sources.name}/{file}", f"_caller{k}.o", flags, by)
            functions[Path(file).stem] = [caller]
        made = Objects(sources.name, {**texts, **callers}, toolchain.compiler, toolchain.flags, cache)
        made.compile(functions, [], objects, toolchain.jobs, watch or Watch())
        targets = sorted(one.target for compilations in functions.values() for one in compilations)
        link(toolchain.compiler, targets, _FILE, objects, ())
        (objects / _FILE).rename(folder / _FILE)
        for temporary in (objects, folder / sources.name):
            shutil.rmtree(temporary)

    with cache.using(f"shared-{key}", fill) as folder:
        yield folder / _FILE


_FILE = "library.so"
