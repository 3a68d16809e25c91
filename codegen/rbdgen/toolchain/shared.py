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
from rbdgen.toolchain.compiler import Compilation, compile_all, link
from rbdgen.toolchain.module import Toolchain, build_key, function_compilations, write_sources
from rbdgen.toolchain.watch import FunctionsWatched, Watch


@contextmanager
def shared_library(
    sources: Sources,
    callers: Mapping[str, str],
    toolchain: Toolchain,
    cache: Cache,
    watch: Watch | None = None,
) -> Iterator[Path]:
    """The library, from the cache if it was built before. Its path differs if its code does. It stays as long
    as the context does.

    `callers` are C files in folders of their own; the library has those functions of the folder that they
    call. Batch functions are compiled for the least processor that the toolchain's flags name. Raises
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
        compilations = [*single, *(one.compilation for one in batch)]
        compilations = [one for one in compilations if one.target.removesuffix(".o") in called]
        compilations += [
            Compilation(f"../{sources.name}/{file}", f"_caller{k}.o", toolchain.function_flags)
            for k, file in enumerate(callers)
        ]
        objects_of = {f"{name}.o": name for name in called & dict(sources.c_sources()).keys()}
        objects_of |= {
            one.compilation.target: one.function
            for one in batch
            if one.compilation.target.removesuffix(".o") in called
        }
        objects_of |= {f"_caller{k}.o": Path(file).stem for k, file in enumerate(callers)}
        watched = FunctionsWatched(watch or Watch(), objects_of)
        compile_all(toolchain.compiler, compilations, objects, toolchain.jobs, watched)
        link(toolchain.compiler, sorted(one.target for one in compilations), _FILE, objects, ())
        (objects / _FILE).rename(folder / _FILE)
        for made in (objects, folder / sources.name):
            shutil.rmtree(made)

    with cache.using(f"shared-{key}", fill) as folder:
        yield folder / _FILE


_FILE = "library.so"
