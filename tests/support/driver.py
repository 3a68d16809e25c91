"""A driver of NVIDIA without a GPU: `driver.cpp` with the kernels of a folder, compiled for the CPU."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from support.cuda import FLAGS, HEADER, passed
from support.web import manifest_of

from rbdgen.runtime.library import signature_of

_DRIVER = Path(__file__).with_suffix(".cpp")

_LAUNCH = re.compile(r"ceil\(states / (\d+)\) blocks of (\d+) threads with (\d+) bytes")
"""The sentence in the text of a kernel that states its grid and its block."""


class Settings(ctypes.Structure):
    """The variables of `Settings` in driver.cpp, which tests set and read."""

    _fields_ = tuple(
        (name, ctypes.c_int)
        for name in (
            *("version", "devices", "major", "minor", "shared", "pools"),
            *("contexts", "launches", "allocated", "freed", "events", "modules", "copies", "attributes"),
            *("blocks", "threads", "bytes"),
        )
    )


def compiled(folder: Path, place: Path) -> Path:
    """The library of a driver that has the kernels of a generated folder; it is compiled in `place`."""
    manifest = manifest_of(folder)
    place.mkdir(parents=True, exist_ok=True)
    text = [f"#define REAL {manifest['real']}", f'#include "{HEADER}"', f'#include "{_DRIVER}"']
    launchers = [_launcher(folder, name, facts) for name, facts in manifest["functions"].items()]
    text += [launcher for launcher, _ in launchers]
    rows = ", ".join(row for _, row in launchers)
    text += [f"const Kernel KERNELS[] = {{{rows}}};", f"const int KERNEL_COUNT = {len(launchers)};"]
    (place / "driver.cpp").write_text("\n".join(text), encoding="utf-8")
    fused = ["-mfma"] if "fma" in Path("/proc/cpuinfo").read_text(encoding="utf-8") else []
    path = place / "libcuda.so"
    command = ["g++", *FLAGS, *fused, "-I", folder / "cuda", "driver.cpp", "-o", path]
    subprocess.run(command, cwd=place, check=True)
    return path


class StandIn:
    """A driver of its own, whose library is a copy.

    Attributes:
        path: its file.
        library: its functions.
        settings: the figures of the devices, and counts of calls.
    """

    def __init__(self, library: Path, place: Path) -> None:
        self.path = place / "libcuda-own.so"
        shutil.copy(library, self.path)
        self.library = ctypes.CDLL(str(self.path))
        self.settings: Any = Settings.in_dll(self.library, "fake")

    @property
    def live(self) -> int:
        """The number of arrays on GPUs that are not given back, after all streams are done."""
        return int(self.library.fake_live())

    def finish(self) -> None:
        """Lets all streams do their work, and sees that none of it failed."""
        assert self.live >= 0
        assert ctypes.c_int.in_dll(self.library, "fake_error").value == 0

    def stream(self) -> int:
        """The handle of a new stream."""
        made = ctypes.c_void_p()
        assert self.library.cuStreamCreate(ctypes.byref(made), 1) == 0
        assert made.value is not None
        return made.value


def _launcher(folder: Path, name: str, facts: Any) -> tuple[str, str]:
    """C++ that launches a kernel if the launch is as its text says, and its row in the table of kernels."""
    kernel = facts["cuda"]
    text = (folder / kernel["source"]).read_text(encoding="utf-8")
    found = _LAUNCH.search(text)
    assert found is not None
    states, threads, shared = map(int, found.groups())
    symbol, extents = kernel["kernel"], _extents(name, facts)
    cases = " ".join(f"case {k}: return {extent};" for k, extent in extents.items())
    return (
        f"""
#include "{Path(kernel["source"]).name}"
static long long extent_{symbol}(int k, const long long *given)
{{
    switch (k) {{ {cases} }}
    return 0;
}}
static int run_{symbol}(unsigned blocks, unsigned threads, unsigned bytes, bool backwards, long long *values)
{{
    static long long *given;
    given = values;
    const long long states = given[0];
    if (blocks != (states + {states - 1}) / {states} || threads != {threads} || bytes != {shared})
        return 3;
    const auto job = [] {{ {symbol}({passed(facts)}); }};
    return launched(blocks, threads, bytes, backwards, job);
}}""",
        f'{{"{symbol}", {len(kernel["arguments"])}, extent_{symbol}, run_{symbol}}}',
    )


def _extents(name: str, facts: Any) -> dict[int, str]:
    """The extents of the arrays among the arguments of a kernel in C, by the number of the argument."""
    names, signature = facts["cuda"]["arguments"], signature_of(name, facts)
    given = {argument: f"given[{k}]" for k, argument in enumerate(names)}
    steps, last = given.get("steps", "1"), given.get("last", "1")
    found = {}
    for k, x in enumerate(signature.inputs):
        row = str(x.size)
        if signature.rolling and k == signature.rolling.control:
            row = f"{row} * {steps}"
        elif (each := given.get(f"{x.name}_each")) is not None:
            row = f"{row} * ({each} ? {steps} : 1)"
        found[names.index(x.name)] = f"(given[0] - 1) * {given[f'{x.name}_step']} + {row}"
    for y in signature.outputs:
        found[names.index(y.name)] = f"given[0] * {y.size} * ({last} ? 1 : {steps})"
    return found


class Foreign:
    """An array of another library, which offers `__cuda_array_interface__` as these entries change it."""

    def __init__(self, array: Any, **changes: Any) -> None:
        self._array = array
        told = {**array.__cuda_array_interface__, "version": 2, **changes}
        self.__cuda_array_interface__ = {name: value for name, value in told.items() if value is not ...}


class Lent:
    """An array of another library, which offers DLPack alone. It notes the streams that readers name."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.readers: list[int] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._array.__dlpack_device__()
        return device

    def __dlpack__(self, *, stream: int) -> Any:
        self.readers.append(stream)
        return self._array.__dlpack__(stream=stream)
