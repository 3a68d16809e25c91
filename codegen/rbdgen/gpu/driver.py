"""The driver of NVIDIA: its library libcuda, whose functions are called as C declares them in cuda.h.

The library comes with the driver of the system. cffi opens it when it is needed first (ABI mode), so nothing
is compiled, and neither the CUDA toolkit nor another package is needed. The environment variable
`RBDGEN_LIBCUDA` names another file.

Functions whose interface changed have a suffix here, because cuda.h renames them by macros.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from rbdgen.errors import DeviceError

_DECLARED: Final = """
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **text);
int cuDeviceGetCount(int *count);
int cuDeviceGet(CUdevice *device, int ordinal);
int cuDeviceGetName(char *name, int length, CUdevice device);
int cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
int cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
int cuCtxGetCurrent(CUcontext *context);
int cuCtxGetDevice(CUdevice *device);
int cuCtxPushCurrent_v2(CUcontext context);
int cuCtxPopCurrent_v2(CUcontext *context);
int cuModuleLoadData(CUmodule *module, const void *image);
int cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
int cuFuncSetAttribute(CUfunction function, int attribute, int value);
int cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments,
    void **extra);
int cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream);
int cuMemFreeAsync(CUdeviceptr pointer, CUstream stream);
int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
int cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
int cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer);
int cuStreamSynchronize(CUstream stream);
int cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
int cuStreamIsCapturing(CUstream stream, int *status);
int cuEventCreate(CUevent *event, unsigned flags);
int cuEventRecord(CUevent event, CUstream stream);
int cuEventQuery(CUevent event);
int cuEventDestroy_v2(CUevent event);
"""

# The values of the enumerations of cuda.h that rbdgen passes.
SHARED_OF_A_BLOCK: Final = 97  # CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
MAJOR: Final = 75  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
MINOR: Final = 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
MEMORY_POOLS: Final = 115  # CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
DYNAMIC_SHARED: Final = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
ORDINAL_OF_POINTER: Final = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
WITHOUT_TIMES: Final = 2  # CU_EVENT_DISABLE_TIMING

# Statuses of calls that rbdgen tells from the others.
SUCCESS: Final = 0
OUT_OF_MEMORY: Final = 2
NO_DEVICE: Final = 100

_OLDEST: Final = 11020
"""The version of CUDA since which memory is allocated in the order of a stream: 11.2."""


class Driver:
    """The library of the driver. Its functions are attributes that return nothing, and raise DeviceError.

    Attributes:
        ffi: cffi's types, with which callers make the arguments.
        library: cffi's library, whose functions return a status.
        version: the newest version of CUDA that it supports, such as (13, 0).
    """

    def __init__(self, path: str) -> None:
        """Opens the library at this path.

        Raises:
            DeviceError: there is no such library, it finds no GPU, or it is too old.
        """
        from cffi import FFI  # noqa: PLC0415  (only this target needs it)

        self.path = path
        self.ffi = FFI()
        self.ffi.cdef(_DECLARED)
        try:
            self.library: Any = self.ffi.dlopen(path)
        except OSError as error:
            why = str(error).partition(".  Additionally")[0]  # cffi tells at length how it searched
            raise DeviceError(
                f"the driver of NVIDIA is missing: {why}; install it, or name its library with RBDGEN_LIBCUDA"
            ) from error
        try:
            status = self.library.cuInit(0)
            version = self.ffi.new("int *")
            self.check(self.library.cuDriverGetVersion(version), "cuDriverGetVersion")
            self.version = divmod(version[0] // 10, 100)
            if version[0] >= _OLDEST:
                for name in _functions():
                    getattr(self.library, name)
        except AttributeError as error:
            raise DeviceError(
                f"{path}: is not the library of a driver of NVIDIA ({error}); name it with RBDGEN_LIBCUDA"
            ) from error
        if version[0] < _OLDEST:
            raise DeviceError(
                f"the driver of NVIDIA supports CUDA {self.told}; install one for CUDA 11.2 or newer"
            )
        if status == NO_DEVICE:
            raise DeviceError(f"{path}: the driver of NVIDIA finds no GPU; kernels need one")
        self.check(status, "cuInit")

    @property
    def told(self) -> str:
        """The version of CUDA as a text, such as 13.0."""
        return "{}.{}".format(*self.version)

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.library, name)

        def checked(*arguments: Any) -> None:
            if status := function(*arguments):
                self.check(status, name)

        setattr(self, name, checked)
        return checked

    def got(self, kind: str, function: str, *arguments: Any) -> Any:
        """The value that a function writes to its first argument, which points to a value of this type."""
        value = self.ffi.new(f"{kind} *")
        getattr(self, function)(value, *arguments)
        return value[0]

    def check(self, status: int, function: str) -> None:
        """Raises DeviceError if the status of a call is that of an error."""
        if status == SUCCESS:
            return
        remedy = "free arrays, or pass fewer states" if status == OUT_OF_MEMORY else "see the guide of CUDA"
        raise DeviceError(f"{function}: the driver reports {self.word_of(status)}; {remedy}")

    def word_of(self, status: int) -> str:
        """The name and the meaning of a status, such as CUDA_ERROR_OUT_OF_MEMORY (out of memory)."""
        told = []
        for function in (self.library.cuGetErrorName, self.library.cuGetErrorString):
            text = self.ffi.new("const char **")
            if function(status, text) == SUCCESS and text[0] != self.ffi.NULL:
                told.append(self.ffi.string(text[0]).decode(errors="replace"))
        return f"{told[0]} ({told[1]})" if len(told) == 2 else f"error {status}"


def _functions() -> list[str]:
    """The names of the functions that are declared."""
    return [line[4:].partition("(")[0] for line in _DECLARED.splitlines() if line.startswith("int ")]


@cache
def driver_at(path: str) -> Driver:
    """The library at a path, which is opened once. Raises DeviceError."""
    return Driver(path)
