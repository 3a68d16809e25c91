"""Functions on a GPU refuse bad arguments, in one line that says what to do."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.driver import Foreign, Lent, StandIn

import rbdgen
from rbdgen.errors import ArrayTypeError, ArrayValueError, DeviceError, LoadError, OptionError
from rbdgen.gpu.array import DeviceArray
from rbdgen.gpu.device import Device, device_of
from rbdgen.gpu.library import KernelLibrary

Make = Callable[[DeviceArray], Any]


class Attached:
    """An array that raises if it is read, as tensors with gradients do."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise RuntimeError("it requires grad\nand more")


class Elsewhere:
    """An array of a framework on the host."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def moved(q: DeviceArray, bytes_: int, rows: int) -> Foreign:
    return Foreign(q, data=(q.address + bytes_, False), shape=(rows, 2))


INPUTS: list[tuple[str, Make, type[Exception], str]] = [
    (
        "numpy",
        lambda q: q.numpy(),
        ArrayTypeError,
        r"v is a numpy.ndarray on the host; .* lib\.to_device\(v\)",
    ),
    ("list", lambda q: [[0, 0]], ArrayTypeError, r"v is a list on the host; pass an array on a GPU"),
    ("number", lambda q: 1.0, ArrayTypeError, r"v is a float on the host"),
    ("framework on the host", lambda q: Elsewhere(), ArrayTypeError, r"v is a .*Elsewhere on the host"),
    (
        "gradient",
        lambda q: Attached(),
        ArrayTypeError,
        r"v is a .*Attached that cannot be read \(it requires grad\)",
    ),
    (
        "address of the host",
        lambda q: Foreign(q, data=(np.zeros(64).ctypes.data // 16 * 16, False)),
        ArrayTypeError,
        r"v is not in the memory of a GPU; pass an array on a GPU",
    ),
    (
        "double",
        lambda q: Foreign(q, typestr="<f8"),
        ArrayTypeError,
        r"v has dtype float64, expected float32; convert",
    ),
    ("integers", lambda q: Foreign(q, typestr="<i4"), ArrayTypeError, r"v has dtype <i4, expected float32"),
    (
        "columns",
        lambda q: Foreign(q, strides=(4, 16)),
        ArrayValueError,
        r"v has strides \(4, 16\) in bytes, which is not C order without gaps; pass a contiguous copy",
    ),
    (
        "misaligned",
        lambda q: moved(q, 8, 3),
        ArrayValueError,
        r"v begins at an address that is no multiple of 16",
    ),
    (
        "shape",
        lambda q: Foreign(q, shape=(2, 4)),
        ArrayValueError,
        r"v has shape \(2, 4\), expected \(\.\.\., 2\)",
    ),
    (
        "states",
        lambda q: Foreign(q, shape=(2, 2)),
        ArrayValueError,
        r"leading axes differ: q \(4,\), v \(2,\), a \(4,\); pass the same for all, or none",
    ),
]


def refused(error: Exception) -> None:
    assert "\n" not in str(error)
    assert isinstance(error, rbdgen.RbdgenError)


@pytest.mark.parametrize(("make", "kind", "told"), [x[1:] for x in INPUTS], ids=[x[0] for x in INPUTS])
def test_inputs(make: Make, kind: type[Exception], told: str, lib: KernelLibrary, driver: StandIn) -> None:
    q = lib.to_device(np.zeros((4, 2)))
    with pytest.raises(kind, match=f"^rnea: {told}") as found:
        lib.rnea(q, make(q), q)
    refused(found.value)
    assert driver.settings.launches == 0


OUTPUTS: list[tuple[str, Make, type[Exception], str]] = [
    (
        "numpy",
        lambda q: q.numpy(),
        ArrayTypeError,
        r"is a numpy.ndarray, which cannot be written; pass an array of",
    ),
    (
        "dlpack",
        Lent,
        ArrayTypeError,
        r"is a .*Lent, which cannot be written; pass an array of PyTorch",
    ),
    (
        "read-only",
        lambda q: Foreign(q, data=(q.address, True)),
        ArrayValueError,
        r"is read-only; pass a writable",
    ),
    ("shape", lambda q: Foreign(q, shape=(2, 2)), ArrayValueError, r"has shape \(2, 2\), expected \(4, 2\)"),
    ("overlap", lambda q: q, ArrayValueError, r"overlaps q; pass an array of its own"),
    ("part", lambda q: moved(q, 16, 4), ArrayValueError, r"overlaps q; pass an array of its own"),
    ("before", lambda q: moved(q, -16, 4), ArrayTypeError, r"is not in the memory of a GPU"),
]


@pytest.mark.parametrize(("make", "kind", "told"), [x[1:] for x in OUTPUTS], ids=[x[0] for x in OUTPUTS])
def test_outputs(make: Make, kind: type[Exception], told: str, lib: KernelLibrary, driver: StandIn) -> None:
    q = lib.to_device(np.zeros((4, 2)))
    with pytest.raises(kind, match=f"^rnea: out for tau {told}") as found:
        lib.rnea(q, q, q, out=make(q))
    refused(found.value)
    assert driver.settings.launches == 0


def test_outputs_that_overlap_each_other(lib: KernelLibrary) -> None:
    q, out = (lib.to_device(np.zeros((4, 2))) for _ in range(2))
    with pytest.raises(
        ArrayValueError, match=r"^step: out for \w+ overlaps out for \w+; pass an array of its own"
    ):
        lib.step(q, q, q, 0.01, out=(out, out))
    with pytest.raises(ArrayTypeError, match=r"^step: out must be a tuple of 2 arrays: q_next, v_next$"):
        lib.step(q, q, q, 0.01, out=out)


def test_arguments_and_streams(lib: KernelLibrary) -> None:
    q = lib.to_device(np.zeros((4, 2)))
    with pytest.raises(ArrayTypeError, match=r"^rnea: a is missing; call rnea\(q, v, a\)$"):
        lib.rnea(q, q)
    for stream in ("first", True, -3):
        with pytest.raises(
            ArrayTypeError, match=r"^rnea: stream is .*; pass a handle, or a stream of PyTorch"
        ):
            lib.rnea(q, q, q, stream=stream)
    with pytest.raises(ArrayTypeError, match=r"^to_device: no array of real numbers \(dtype complex128\)"):
        lib.to_device([1j])
    with pytest.raises(
        ArrayTypeError, match=r"^an array on a GPU is not copied to the host by the way; call its nu"
    ):
        np.asarray(q)


def test_gpus_that_differ_or_do_not_exist(lib: KernelLibrary) -> None:
    q, other = (lib.to_device(np.zeros((4, 2)), device=k) for k in (0, 1))
    with pytest.raises(
        ArrayTypeError,
        match=r"^rnea: arrays are on different GPUs \(q on 0, v on 1, a on 0\); copy them to one",
    ):
        lib.rnea(q, other, q)
    with pytest.raises(DeviceError, match=r"^there is no GPU 2; there are 2, numbered from 0$"):
        lib.to_device(np.zeros(2), device=2)


def test_memory_that_is_missing(lib: KernelLibrary, driver: StandIn) -> None:
    with pytest.raises(
        DeviceError, match=r"^cuMemAllocAsync: .*CUDA_ERROR_OUT_OF_MEMORY \(out of memory\); free ar"
    ):
        lib.to_device(np.zeros((2**24 + 1, 4)))
    assert driver.live == 0


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"version": 12080},
            r".*: its kernels need a driver for CUDA \d+, and the driver supports 12\.8; install",
        ),
        (
            {"version": 11010},
            r"the driver of NVIDIA supports CUDA 11\.1; install one for CUDA 11\.2 or newer$",
        ),
        ({"devices": 0}, r".*libcuda-own\.so: the driver of NVIDIA finds no GPU; kernels need one$"),
        (
            {"major": 8},
            r".*: has kernels for sm_90, and none runs on GPU 0 .*, which is sm_80; generate it for",
        ),
        (
            {"shared": 1000},
            r"rnea: a block needs \d+ bytes of shared memory for \d+ states, and .* has at most 1000",
        ),
        (
            {"pools": 0},
            r"GPU 0 \(Stand-in 0\): does not allocate memory in the order of a stream; take another",
        ),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_drivers_and_gpus(settings: dict[str, int], told: str, lib: KernelLibrary, driver: StandIn) -> None:
    for name, value in settings.items():
        setattr(driver.settings, name, value)
    with pytest.raises(DeviceError, match=f"^{told}") as found:
        lib.rnea(*[lib.to_device(np.zeros((4, 2)))] * 3)
    refused(found.value)


@pytest.mark.parametrize(
    ("library", "told"),
    [
        (
            "/nowhere/libcuda.so",
            r"the driver of NVIDIA is missing: .*; install it, or name its library with RBDGEN_LIB",
        ),
        (
            "libm.so.6",
            r"libm\.so\.6: is not the library of a driver of NVIDIA \(.*\); name it with RBDGEN_LIBCUDA$",
        ),
    ],
    ids=["missing", "another library"],
)
def test_no_driver(library: str, told: str, kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library opens without a driver, which is needed for the first array."""
    monkeypatch.setenv("RBDGEN_LIBCUDA", library)
    lib = rbdgen.load(kernels)
    assert isinstance(lib, KernelLibrary)
    with pytest.raises(DeviceError, match=f"^{told}") as found:
        lib.to_device(np.zeros(2))
    refused(found.value)


def test_machine_code_for_a_gpu(driver: StandIn) -> None:
    """A GPU runs machine code for its major version and at most its minor version; chips with a processor run
    only their own."""
    device = device_of(0)

    def best(major: int, minor: int, *archs: str) -> str | None:
        device.capability = (major, minor)
        return Device.best(device, archs)

    assert best(9, 0, "sm_80", "sm_90", "sm_100") == "sm_90"
    assert best(8, 9, "sm_80", "sm_86", "sm_87", "sm_90") == "sm_86"
    assert best(8, 7, "sm_80", "sm_86", "sm_87") == "sm_87"
    assert best(8, 7, "sm_80", "sm_86") is None
    assert best(12, 1, "sm_120", "sm_121") == "sm_121"
    assert best(10, 0, "sm_90", "sm_103") is None


def test_folders(kernels: Path, driver: StandIn, tmp_path: Path) -> None:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(kernels, tmp_path / name))

    damaged, missing = copy("damaged"), copy("missing")
    (file,) = damaged.glob("cuda/*rnea.sm_90.cubin")
    file.write_bytes(file.read_bytes()[:-1])
    (missing / "cuda" / file.name).unlink()
    for folder, told in ((damaged, "is not what the manifest describes"), (missing, "cannot be read")):
        lib = rbdgen.load(folder)
        assert isinstance(lib, KernelLibrary)
        q = lib.to_device(np.zeros((4, 2)))
        with pytest.raises(LoadError, match=rf"rnea\.sm_90\.cubin: {told}.*; generate the folder again$"):
            lib.rnea(q, q, q)
    bare = rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="cuda", real="float", compiled=False)
    with pytest.raises(
        LoadError, match=r"'double_pendulum' has no machine code for GPUs; .* NVRTC is installed"
    ):
        rbdgen.load(bare)
    manifest = bare / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "build": {}}))
    with pytest.raises(
        LoadError, match=r"manifest\.json: does not describe its functions .*; generate it again$"
    ):
        rbdgen.load(bare)


def test_what_a_library_on_a_gpu_does_without(lib: KernelLibrary) -> None:
    with pytest.raises(OptionError, match=r"^checks reads states on the host, .*; leave it out$"):
        rbdgen.build("double_pendulum", ["rnea"], target="cuda", checks=True)
    with pytest.raises(LoadError, match=r"cannot be pickled; pickle the path of a folder"):
        pickle.dumps(lib)
