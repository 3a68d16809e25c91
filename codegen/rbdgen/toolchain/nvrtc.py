"""Compiles kernels of CUDA to machine code for GPUs (cubins), and takes the figures of the machine code.

NVRTC is a library that needs neither a GPU nor a driver.

The package nvidia-cuda-nvrtc has the library. Its functions are called as C declares them in nvrtc.h.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from time import perf_counter
from typing import Any, Final

from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.emit.readme.files import kernels_page
from rbdgen.errors import BuildError, OptionError
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.watch import Watch
from rbdgen.wording import choose, option

INSTALL: Final = 'pip install "rbdgen[cuda]"'

FLAGS: Final = ("--fmad=false", "--ptxas-options=-v")
"""The flags: products and sums stay as they are written, and the log has registers and spills."""

DEFAULT_ARCHITECTURE: Final = "sm_90"

_KIB: Final = 1024

SHARED: Final[Mapping[str, int]] = {
    "sm_75": 64 * _KIB,
    "sm_80": 163 * _KIB,
    "sm_86": 99 * _KIB,
    "sm_87": 163 * _KIB,
    "sm_88": 163 * _KIB,
    "sm_89": 99 * _KIB,
    "sm_90": 227 * _KIB,
    "sm_100": 227 * _KIB,
    "sm_103": 227 * _KIB,
    "sm_110": 227 * _KIB,
    "sm_120": 99 * _KIB,
    "sm_121": 99 * _KIB,
}
"""The bytes of shared memory that a block has at most, by architecture (CUDA C++ Programming Guide, "Compute
Capabilities")."""

_DECLARED: Final = """
typedef struct Program *nvrtcProgram;
int nvrtcVersion(int *major, int *minor);
int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetSupportedArchs(int *archs);
const char *nvrtcGetErrorString(int result);
int nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int headers,
    const char *const *header_texts, const char *const *header_names);
int nvrtcDestroyProgram(nvrtcProgram *program);
int nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options);
int nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size);
int nvrtcGetProgramLog(nvrtcProgram program, char *log);
int nvrtcGetCUBINSize(nvrtcProgram program, size_t *size);
int nvrtcGetCUBIN(nvrtcProgram program, char *cubin);
"""

_INSTRUCTION: Final = 16
"""The bytes of an instruction on all architectures since 7.0."""

_PADDING: Final = (0x918, 0x947)
"""The opcodes of NOP and BRA, which fill the end of a kernel; the lowest 12 bits of an instruction."""


@dataclass(frozen=True)
class Figures:
    """The figures of a kernel for one architecture."""

    registers: int
    """The registers of a thread."""
    stack_bytes: int
    """The bytes of local memory of a thread."""
    spill_bytes: int
    """The bytes that a thread stores to local memory and loads again because registers are short."""
    instructions: int


@dataclass(frozen=True)
class Cubin:
    """The machine code of a kernel for one architecture."""

    data: bytes
    figures: Figures
    seconds: float
    """The time that the compilation took; 0 if it was compiled before."""


def architectures(arch: str) -> tuple[str, ...]:
    """The architectures that the option `arch` names with commas between them; "native" means the default.

    Raises:
        OptionError: one of them is not known, or occurs twice.
    """
    if arch == "native":
        return (DEFAULT_ARCHITECTURE,)
    names = tuple(name.strip() for name in arch.split(","))
    for name in names:
        if name not in SHARED:
            raise OptionError(
                f"{option('arch', arch)}: '{name}' is no GPU that is known; {choose(name, SHARED)}"
            )
        if names.count(name) > 1:
            raise OptionError(f"{option('arch', arch)}: '{name}' occurs twice; name it once")
    return names


def library_path() -> Path | None:
    """The file of the newest NVRTC among the packages of NVIDIA; None if there is none."""
    found = find_spec("nvidia")
    places = [] if found is None else [Path(place) for place in found.submodule_search_locations or ()]
    files = [
        file for place in places for file in place.glob("*/lib/libnvrtc.so.*") if ".alt." not in file.name
    ]
    return max(files, key=_version_of, default=None)


def _version_of(file: Path) -> tuple[int, ...]:
    """The numbers at the end of a library's name."""
    return tuple(map(int, re.findall(r"\d+", file.name.partition(".so.")[2])))


def missing() -> str | None:
    """The reason why kernels cannot be compiled here, with advice; None if they can."""
    return None if library_path() else f"NVRTC is not installed, which compiles kernels; {INSTALL}"


class Nvrtc:
    """The library.

    Raises:
        BuildError: it is not installed or cannot be loaded.
    """

    def __init__(self) -> None:
        from cffi import FFI  # noqa: PLC0415  (only this target needs it)

        path = library_path()
        if path is None:
            raise BuildError(missing() or "")
        self._ffi = FFI()
        self._ffi.cdef(_DECLARED)
        try:
            self._library: Any = self._ffi.dlopen(str(path))
        except OSError as error:
            raise BuildError(f"{path.name} cannot be loaded ({error}); {INSTALL}") from error

    @property
    def version(self) -> str:
        """Its version, such as 13.5."""
        major, minor = self._ffi.new("int *"), self._ffi.new("int *")
        self._check(self._library.nvrtcVersion(major, minor), "its version")
        return f"{major[0]}.{minor[0]}"

    @property
    def known(self) -> tuple[str, ...]:
        """The architectures for which it compiles."""
        count = self._ffi.new("int *")
        self._check(self._library.nvrtcGetNumSupportedArchs(count), "its architectures")
        archs = self._ffi.new("int[]", count[0])
        self._check(self._library.nvrtcGetSupportedArchs(archs), "its architectures")
        return tuple(f"sm_{arch}" for arch in archs)

    def compiled(self, text: str, file: str, headers: Mapping[str, str], arch: str) -> Cubin:
        """The machine code of a file that has one kernel.

        Args:
            text: the text of the file.
            file: its name, which messages contain.
            headers: the texts of the headers that it includes, by name.
            arch: the architecture, such as "sm_90".

        Raises:
            BuildError: the compiler refuses the text.
        """
        ffi, library, since = self._ffi, self._library, perf_counter()
        texts = [ffi.new("char[]", header.encode()) for header in headers.values()]
        names = [ffi.new("char[]", name.encode()) for name in headers]
        made = ffi.new("nvrtcProgram *")
        self._check(
            library.nvrtcCreateProgram(made, text.encode(), file.encode(), len(texts), texts, names), file
        )
        try:
            flags = [ffi.new("char[]", flag.encode()) for flag in (f"-arch={arch}", *FLAGS)]
            status = library.nvrtcCompileProgram(made[0], len(flags), flags)
            log = self._taken(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, made[0])
            told = log.rstrip(b"\0").decode(errors="replace")
            if status:
                line = next((line for line in told.splitlines() if "error" in line), told[:200])
                raise BuildError(
                    f"{file} for {arch}: NVRTC {self.version}: {line}; report the generated file"
                )
            data = self._taken(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN, made[0])
        finally:
            library.nvrtcDestroyProgram(made)
        return Cubin(data, _figures(told, data), perf_counter() - since)

    def _taken(self, size_of: Any, read: Any, program: Any) -> bytes:
        size = self._ffi.new("size_t *")
        self._check(size_of(program, size), "a size")
        room = self._ffi.new("char[]", max(1, size[0]))
        self._check(read(program, room), "a result")
        return bytes(self._ffi.buffer(room, size[0]))

    def _check(self, status: int, what: str) -> None:
        if status:
            told = self._ffi.string(self._library.nvrtcGetErrorString(status)).decode()
            raise BuildError(f"NVRTC: {what}: {told}; {INSTALL}")


@cache
def nvrtc() -> Nvrtc:
    """The library, which is loaded once. Raises BuildError if it is missing."""
    return Nvrtc()


def check_architectures(archs: Sequence[str]) -> None:
    """Raises BuildError if the NVRTC that is installed does not compile for one of the architectures."""
    for arch in archs:
        if arch not in (known := nvrtc().known):
            raise BuildError(
                f"NVRTC {nvrtc().version} does not compile for {arch}; it knows {', '.join(known)}"
            )


def with_cubins(
    sources: Sources, archs: Sequence[str], cache: Cache, jobs: int, watch: Watch
) -> dict[str, str | bytes]:
    """The files of a folder with the machine code of its kernels, which its manifest and page describe.

    Raises:
        BuildError: NVRTC is missing or refuses a kernel, or a block needs more shared memory than an
            architecture has.
    """
    manifest = sources.manifest
    functions: dict[str, dict[str, Any]] = manifest["functions"]
    check_shared(functions, archs)
    headers = {
        PurePosixPath(file).name: text
        for file, text in sources.files.items()
        if file.startswith("cuda/") and file.endswith(".h")
    }
    watch.expects(len(functions))

    def compiled(name: str) -> list[Cubin]:
        watch.begins(name)
        file = functions[name]["cuda"]["source"]
        cubins = [
            _kept(sources.files[file], PurePosixPath(file).name, headers, arch, cache) for arch in archs
        ]
        watch.ends(name, sum(cubin.seconds for cubin in cubins))
        return cubins

    cubins: dict[str, bytes] = {}
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        for facts, own in zip(functions.values(), pool.map(compiled, functions), strict=True):
            stem = facts["cuda"]["source"].removesuffix(".cu")
            files = {arch: f"{stem}.{arch}.cubin" for arch in archs}
            cubins |= {files[arch]: cubin.data for arch, cubin in zip(archs, own, strict=True)}
            facts["cuda"]["architectures"] = {
                arch: {"cubin": files[arch], **asdict(cubin.figures)}
                for arch, cubin in zip(archs, own, strict=True)
            }
            facts["seconds"] = round(sum(cubin.seconds for cubin in own), 3)
    manifest["build"] = {
        "compiler": "NVRTC",
        "version": nvrtc().version,
        "flags": list(FLAGS),
        "sha256": {file: hashlib.sha256(data).hexdigest() for file, data in cubins.items()},
    }
    manifest["files"] += cubins
    page = kernels_page(f"NVRTC {nvrtc().version}", functions)
    return {
        **sources.files,
        "README.md": sources.files["README.md"] + page,
        **cubins,
        MANIFEST: json.dumps(manifest, indent=1, allow_nan=False) + "\n",
    }


def check_shared(functions: Mapping[str, Mapping[str, Any]], archs: Sequence[str]) -> None:
    """Raises BuildError, with figures, if a kernel needs more shared memory than an architecture has."""
    for name, facts in functions.items():
        need = facts["cuda"]["shared_bytes"]
        for arch in archs:
            if need > SHARED[arch]:
                states = facts["cuda"]["states_per_block"]
                raise BuildError(
                    f"function '{name}' needs {need} bytes of shared memory for {states} states, "
                    f"and a block of {arch} has at most {SHARED[arch]}; leave one of them out"
                )


def _kept(text: str, file: str, headers: Mapping[str, str], arch: str, cache: Cache) -> Cubin:
    """The machine code from the cache, or compiled if it is not there."""
    told = [text, file, sorted(headers.items()), arch, FLAGS, nvrtc().version, str(library_path())]
    key = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    made: list[Cubin] = []

    def fill(folder: Path) -> None:
        cubin = nvrtc().compiled(text, file, headers, arch)
        (folder / "kernel.cubin").write_bytes(cubin.data)
        (folder / "figures.json").write_text(json.dumps(asdict(cubin.figures)), encoding="utf-8")
        made.append(cubin)

    with cache.using(key, fill) as folder:
        figures = Figures(**json.loads((folder / "figures.json").read_text(encoding="utf-8")))
        return Cubin((folder / "kernel.cubin").read_bytes(), figures, made[0].seconds if made else 0.0)


def _figures(log: str, cubin: bytes) -> Figures:
    """The figures of a file with one kernel, from the log of the assembler and from the machine code."""
    registers, stack, stores, loads = (
        sum(map(int, re.findall(pattern, log)))
        for pattern in (
            r"Used (\d+) registers",
            r"(\d+) bytes stack frame",
            r"(\d+) bytes spill stores",
            r"(\d+) bytes spill loads",
        )
    )
    return Figures(registers, stack, stores + loads, sum(map(_instructions, _code(cubin))))


def _instructions(code: bytes) -> int:
    """The number of instructions without those that only fill the end."""
    opcodes = [word & 0xFFF for word, _ in struct.iter_unpack("<QQ", code)]
    while opcodes and opcodes[-1] in _PADDING:
        opcodes.pop()
    return len(opcodes)


def _code(cubin: bytes) -> Iterator[bytes]:
    """The sections of machine code of a 64-bit ELF file."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + k * size) for k in range(count)]
    names = headers[names_index][4]
    for name, _, _, _, begin, length in headers:
        if cubin.startswith(b".text.", names + name):
            yield cubin[begin : begin + length]
