"""The library of a robot whose functions run on a GPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from rbdgen.errors import ArrayTypeError, LoadError
from rbdgen.gpu.array import DeviceArray
from rbdgen.gpu.device import current_device, device_of
from rbdgen.gpu.documentation import call_signature, docstring
from rbdgen.gpu.kernel import KernelFunction
from rbdgen.gpu.machine_code import Code, Loaded
from rbdgen.gpu.rollout import KernelStep
from rbdgen.gpu.stream import DEFAULT, stream_of
from rbdgen.runtime.described import Described
from rbdgen.runtime.library import signature_of
from rbdgen.runtime.manifest import MANIFEST
from rbdgen.runtime.rollout import Rollouts
from rbdgen.signature import SizedSignature


class KernelLibrary(Described):
    """A robot's functions on a GPU, as attributes: `library.rnea(q, v, a)`, see `KernelFunction`.

    No driver and no GPU are needed until an array is made or a function is called. The methods of `manifold`
    are for NumPy. If parameters stayed inputs, `library.update(p)` computes the table that functions take as
    their last argument.

    It has the attributes of `Described`, and these:

    Attributes:
        functions: the functions by name.
        rollout: the rollouts of the first integration step, see `KernelRollout`.
        dtype: the type of all arrays.
    """

    def __init__(self, manifest: Mapping[str, Any], code: Code) -> None:
        super().__init__(manifest)
        self.dtype = np.dtype(np.float32 if manifest["real"] == "float" else np.float64)
        functions = {
            name: _function(signature_of(name, facts), facts, code, manifest["real"])
            for name, facts in manifest["functions"].items()
        }
        self.rollout = Rollouts(
            {name: f.rollout for name, f in functions.items() if isinstance(f, KernelStep)}
        )
        for name, function in functions.items():
            function.__signature__ = call_signature(function.signature)
            function.__doc__ = docstring(function.signature, manifest["functions"][name], manifest)
        self.functions: Mapping[str, KernelFunction] = MappingProxyType(functions)
        self.__dict__.update(functions)

    @cached_property
    def torch(self) -> Any:
        """The functions for PyTorch: `library.torch.rnea(q, v, a)` with autograd, see `TorchFunction`.

        Raises:
            BuildError: PyTorch is missing.
        """
        from rbdgen.gpu.in_torch import TorchFunctions  # noqa: PLC0415  (imports PyTorch)

        return TorchFunctions(self.functions)

    def __repr__(self) -> str:
        return f"<{self.name} on a GPU: {', '.join(self.functions)}>"

    def __getattr__(self, name: str) -> KernelFunction:
        functions = ", ".join(self.__dict__.get("functions", {}))
        raise AttributeError(f"no function '{name}' was generated; there are: {functions}")

    def __reduce__(self) -> tuple[Any, ...]:
        raise LoadError(
            f"'{self.name}' is a library on a GPU, which cannot be pickled; pickle the path of a folder, and "
            "open it by rbdgen.load"
        )

    def to_device(
        self, array: npt.ArrayLike, *, device: int | None = None, stream: Any = None
    ) -> DeviceArray:
        """A copy of an array of the host in the memory of a GPU, of the type that functions take.

        Args:
            array: the array, (...), of real numbers.
            device: the number of the GPU; by default the one whose context the calling thread uses, or else
                0.
            stream: the stream on which the array is written; by default that of the process.

        Raises:
            ArrayTypeError: the array is not of real numbers.
            DeviceError: there is no driver or no such GPU, or it has not enough memory.
        """
        try:
            host = np.asarray(array)
            if host.dtype.kind not in "fiub":
                raise TypeError(f"dtype {host.dtype}")
            host = np.require(host, self.dtype, ("C", "A"))
        except (TypeError, ValueError) as error:
            raise ArrayTypeError(
                f"to_device: no array of real numbers ({error}); pass one of NumPy"
            ) from error
        chosen = DEFAULT if stream is None else stream_of("to_device", stream)
        place = current_device() if device is None else device_of(device)
        with place.current():
            made = DeviceArray.of(place, host, chosen)
            place.synchronize(chosen)
        return made


def _function(signature: SizedSignature, facts: Mapping[str, Any], code: Code, real: str) -> KernelFunction:
    kind = KernelFunction if signature.rolling is None else KernelStep
    return kind(signature, facts, Loaded(signature.name, facts["cuda"], code), real)


def open_kernels(folder: Path, manifest: Mapping[str, Any]) -> KernelLibrary:
    """Opens a generated folder whose kernels were compiled; they are read when they are first called.

    Raises:
        LoadError: the folder has no machine code, or its manifest does not describe it.
    """

    def read(file: str) -> bytes:
        try:
            return (folder / file).read_bytes()
        except OSError as error:
            raise LoadError(
                f"{folder / file}: cannot be read ({error.strerror}); generate the folder again"
            ) from error

    return library_of(str(folder), manifest, read)


def library_of(place: str, manifest: Mapping[str, Any], read: Callable[[str], bytes]) -> KernelLibrary:
    """The library of a manifest, whose files `read` reads. `place` says in errors where they are."""
    built = manifest.get("build")
    if built is None:
        raise LoadError(
            f"{place}: '{manifest['name']}' has no machine code for GPUs; generate it again where NVRTC is "
            'installed (pip install "rbdgen[cuda]")'
        )

    def checked(file: str) -> bytes:
        data = read(file)
        if hashlib.sha256(data).hexdigest() != built["sha256"].get(file):
            raise LoadError(f"{place}/{file}: is not what the manifest describes; generate the folder again")
        return data

    try:
        return KernelLibrary(manifest, Code(place, int(built["version"].partition(".")[0]), checked))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LoadError(
            f"{place}/{MANIFEST}: does not describe its functions ({error}); generate it again"
        ) from error
