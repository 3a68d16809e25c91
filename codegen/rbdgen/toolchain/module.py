"""A rendered folder, compiled: objects in parallel, the cffi binding, and one shared module."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, Final

from rbdgen.emit.package import MANIFEST, PRIVATE, Sources
from rbdgen.errors import BuildError
from rbdgen.figures.objects import object_bytes, stack_bytes
from rbdgen.options import AUTO
from rbdgen.toolchain.batch import DISPATCH_FLAG, BatchFunction, batch_functions
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import (
    BINDING_FLAGS,
    FUNCTION_FLAGS,
    INSTALL,
    Compilation,
    Compiler,
    check_flags,
    link,
)
from rbdgen.toolchain.objects import Objects
from rbdgen.toolchain.tuning import BATCH_TUNING, FASTER_BATCHES, TUNING, faster_for_calls
from rbdgen.toolchain.watch import Watch

ORIGIN: Final = f"{PRIVATE}/origin.json"
"""The file with the origin of a build, which `runtime.pickled` reads: the manifest before compilation, the
flags and the levels.
"""

NEEDS_FLAG: Final = "-DPROCESSOR_NEEDS=rbdgen_{}"
"""The flag that turns `processor.c` into the constant that says for which processor a compiler compiled."""

_LINK_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {"darwin": ("-undefined", "dynamic_lookup")}


@dataclass(frozen=True)
class Toolchain:
    """The tools of a build: compilers, their flags, and the number of compilations that run together."""

    compiler: Compiler
    """The compiler that also links the module and compiles what binds it to Python."""
    flags: tuple[str, ...]
    jobs: int = 1
    levels: tuple[str, ...] = ()
    """Instruction sets for which batch functions are compiled, all of them in one module; empty for the
    target's own.
    """
    other: Compiler | None = None
    """A compiler of the other family, for the functions or batch functions that it compiles to faster code;
    None to compile everything by `compiler`.
    """

    def __post_init__(self) -> None:
        check_flags(self.flags)

    def for_calls(self, form: str = "") -> Compiler:
        """The compiler of a function of this form."""
        if self.other is None:
            return self.compiler
        return self._of(faster_for_calls(form, long_registers=self._long_registers))

    @property
    def for_batches(self) -> Compiler:
        """The compiler of batch functions."""
        return self._of(FASTER_BATCHES)

    @property
    def compilers(self) -> tuple[Compiler, ...]:
        """All compilers that may compile something."""
        return (self.compiler,) if self.other is None else (self.compiler, self.other)

    def _of(self, family: str) -> Compiler:
        return self.other if self.other is not None and self.other.family == family else self.compiler

    @cached_property
    def _long_registers(self) -> bool:
        return self.compiler.defines("__AVX512F__", self.flags)

    def flags_by(self, compiler: Compiler) -> tuple[str, ...]:
        """All flags with which this compiler compiles a function, or a batch function whose results are
        matrices.
        """
        return (*FUNCTION_FLAGS, *self.flags, *TUNING[compiler.family])

    @property
    def function_flags(self) -> tuple[str, ...]:
        """All flags for a function of most forms."""
        return self.flags_by(self.for_calls())

    @property
    def batch_flags(self) -> tuple[str, ...]:
        """All flags for a batch function whose results are vectors."""
        return (*FUNCTION_FLAGS, *self.flags, *BATCH_TUNING[self.for_batches.family])


def build(sources: Sources, toolchain: Toolchain, cache: Cache, watch: Watch | None = None) -> Path:
    """Builds the package as `built` does, and returns its folder without a lock against its removal."""
    with built(sources, toolchain, cache, watch) as folder:
        return folder


@contextmanager
def built(sources: Sources, toolchain: Toolchain, cache: Cache, watch: Watch | None = None) -> Iterator[Path]:
    """Gives the folder `<cache>/<key>/<name>` of the compiled package, which is built if the cache lacks it.

    The folder is kept as long as the context lasts.

    Raises:
        BuildError: no compiler, no Python headers, sources that the compiler refuses, or a full disk.
    """
    include = _python_include()
    key = build_key(sources, toolchain)
    filled = False

    def fill(folder: Path) -> None:
        nonlocal filled
        filled = True
        _compile_package(sources, toolchain, folder, include, cache, watch or Watch())
        shutil.rmtree(folder / "objects")

    with cache.using(key, fill) as folder:
        if watch is not None and not filled:
            functions = len(dict(sources.c_sources()))
            watch.expects(functions, functions)
        yield folder / sources.name


def build_key(sources: Sources, toolchain: Toolchain) -> str:
    """A hash of everything on which a compiled module depends."""
    import cffi  # noqa: PLC0415  (only builds need it)
    import numpy as np  # noqa: PLC0415

    compilers = toolchain.compilers
    content = {
        "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sources.files.items()},
        "flags": [toolchain.function_flags, toolchain.batch_flags, BINDING_FLAGS],
        "compilers": [[one.family, one.version] for one in compilers],
        "machine": [one.fingerprint(toolchain.flags) for one in compilers],
        "python": [sys.implementation.cache_tag, sysconfig.get_config_var("EXT_SUFFIX"), sys.platform],
        "cffi": cffi.__version__,
        "numpy": np.__version__,
        "levels": toolchain.levels,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def module_suffix() -> str:
    """The suffix of a robot's module. cffi uses the stable ABI if the interpreter has one."""
    stable = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
    return ".abi3.so" if stable and not hasattr(sys, "gettotalrefcount") else _own_suffix()


def _own_suffix() -> str:
    """The suffix of modules that work only with this version of Python."""
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


def package_files(folder: Path) -> dict[str, bytes]:
    """All files of a compiled package in the folder that `build` returned."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {name: (folder / name).read_bytes() for name in manifest["files"]}
    except (OSError, ValueError, KeyError) as error:
        raise BuildError(f"{folder}: the build cannot be read back ({error}); clear the cache") from error


def _compile_package(
    sources: Sources,
    toolchain: Toolchain,
    place: Path,
    include: Path,
    cache: Cache,
    watch: Watch,
) -> None:
    folder, objects = place / sources.name, place / "objects"
    write_sources(sources.files, folder)
    objects.mkdir()
    binding = _binding_source(sources)
    (objects / "binding.c").write_text(binding, encoding="utf-8")
    here = f"-I../{sources.name}"
    functions = dict(sources.c_sources())
    dispatch = (DISPATCH_FLAG,) if toolchain.levels else ()
    single, batch = function_compilations(sources, toolchain)
    private = f"../{sources.name}/{PRIVATE}"
    compilers = {"needs": toolchain.compiler, "other_needs": toolchain.other or toolchain.compiler}
    needs = [
        Compilation(
            f"{private}/processor.c", f"_{name}.o", (*toolchain.flags_by(by), NEEDS_FLAG.format(name)), by
        )
        for name, by in compilers.items()
    ]
    glue = [
        Compilation(f"{private}/binding.c", "_states.o", (*BINDING_FLAGS, *dispatch, here)),
        Compilation(f"{private}/threads.c", "_threads.o", BINDING_FLAGS),
        Compilation(f"{private}/processor.c", "_processor.o", BINDING_FLAGS),
        *needs,
        Compilation("binding.c", "_binding.o", (*BINDING_FLAGS, f"-I{private}", f"-I{include}")),
    ]
    calls = Compilation(f"{private}/calls.c", "calls.o", (*BINDING_FLAGS, *_numpy_flags(include)))
    by_source = {f"../{sources.name}/{file}": name for name, file in functions.items()}
    compilations = {by_source[one.source]: [one] for one in single}
    for one in batch:
        compilations[one.function].append(one.compilation)
    kept = Objects(sources.name, sources.files, toolchain.compiler, toolchain.flags, cache)
    seconds = kept.compile(compilations, [*glue, calls], objects, toolchain.jobs, watch)
    parts = sorted(c.target for c in [*chain(*compilations.values()), *glue])
    modules = {
        "module": _linked(toolchain, parts, objects, folder, f"_{sources.name}", module_suffix()),
        "calls": _linked(toolchain, [calls.target], objects, folder, f"{PRIVATE}/_calls", _own_suffix()),
    }
    taken = {by_source[source]: value for source, value in seconds.items() if source in by_source}
    manifest = _completed(sources.manifest, toolchain, modules, objects, taken)
    for batch_function in batch:
        manifest["functions"][batch_function.function]["batch"].append(
            _batch_facts(batch_function, toolchain.for_batches, objects, seconds)
        )
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    origin = {
        "manifest": sources.files[MANIFEST],
        "flags": list(toolchain.flags),
        "levels": list(toolchain.levels),
        "compiler": None if toolchain.other is None else AUTO,
    }
    (folder / ORIGIN).write_text(json.dumps(origin) + "\n", encoding="utf-8")


def write_sources(files: Mapping[str, str], folder: Path) -> None:
    """Writes the texts as files of a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def function_compilations(
    sources: Sources, toolchain: Toolchain
) -> tuple[list[Compilation], list[BatchFunction]]:
    """The compilations of functions and of batch functions, for a compiler that runs in a folder next to
    that of the sources.
    """
    here = f"-I../{sources.name}"
    told = sources.manifest["functions"]
    vectors = {
        name for name, facts in told.items() if all(len(output["shape"]) == 1 for output in facts["outputs"])
    }
    functions = dict(sources.c_sources())
    own = {
        name: toolchain.batch_flags if name in vectors else toolchain.flags_by(toolchain.for_batches)
        for name in functions
    }
    single = []
    for name, file in functions.items():
        by = toolchain.for_calls(told[name]["form"])
        flags = (*toolchain.flags_by(by), here)
        single.append(Compilation(f"../{sources.name}/{file}", f"{name}.o", flags, by))
    return single, list(batch_functions(sources, toolchain.levels, own, here, toolchain.for_batches))


def _linked(
    toolchain: Toolchain, parts: Sequence[str], objects: Path, folder: Path, stem: str, suffix: str
) -> tuple[str, str]:
    """Links these objects into a shared module; returns the name of its file in the folder and its SHA-256.

    The file's name has the hash. A folder that is generated again thus has another file for other code, which
    a process that opened the older one can open, too.
    """
    made = objects / f"module{suffix}"
    link(toolchain.compiler, parts, made.name, objects, _LINK_FLAGS.get(sys.platform, ()))
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    file = f"{stem}.{digest[:16]}{suffix}"
    made.rename(folder / file)
    return file, digest


def _completed(
    manifest: dict[str, Any],
    toolchain: Toolchain,
    modules: Mapping[str, tuple[str, str]],
    objects: Path,
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """The manifest with the results of the compiler."""
    for name, facts in manifest["functions"].items():
        compiler = toolchain.for_calls(facts["form"])
        facts["compiler"] = compiler.family
        facts["flags"] = list(toolchain.flags_by(compiler))
        facts["object_bytes"] = object_bytes(objects / f"{name}.o")
        facts["stack_bytes"] = stack_bytes(objects / f"{name}.su")
        facts["seconds"] = round(seconds[name], 3)
        facts["batch"] = []
    files = [file for file, _ in modules.values()]
    manifest["build"] = {
        **{role: file for role, (file, _) in modules.items()},
        "sha256": dict(modules.values()),
        "compiler": toolchain.compiler.family,
        "version": toolchain.compiler.version,
    }
    if toolchain.other is not None:
        manifest["build"]["other"] = {
            "compiler": toolchain.other.family,
            "version": toolchain.other.version,
        }
    manifest["files"] = [*manifest["files"], *files, ORIGIN]
    return manifest


def _batch_facts(
    batch_function: BatchFunction, compiler: Compiler, objects: Path, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """The facts of the compilation of a batch function. If one source is compiled several times, the seconds
    are those of the last.
    """
    compilation = batch_function.compilation
    return {
        "level": batch_function.level,
        "compiler": compiler.family,
        "flags": [flag for flag in compilation.flags if not flag.startswith("-I")],
        "object_bytes": object_bytes(objects / compilation.target),
        "seconds": round(seconds[compilation.source], 3),
    }


def _binding_source(sources: Sources) -> str:
    """The C that cffi writes to bind the functions and their loops."""
    from cffi import FFI  # noqa: PLC0415  (only builds need it)

    declarations = sources.files[f"{PRIVATE}/binding.h"]
    ffi = FFI()
    ffi.cdef(declarations)
    ffi.set_source(f"_{sources.name}", '#include "binding.h"')
    text = StringIO()
    with redirect_stdout(StringIO()):
        ffi.emit_c_code(text)
    return text.getvalue()


def _python_include() -> Path:
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        raise BuildError(f"Python.h is missing: the C headers of this Python are not installed; {INSTALL}")
    return include


def _numpy_flags(include: Path) -> tuple[str, ...]:
    import numpy as np  # noqa: PLC0415  (only builds need its headers)

    return f"-I{include}", f"-I{np.get_include()}"
