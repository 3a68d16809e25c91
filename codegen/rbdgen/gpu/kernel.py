"""One kernel of a folder as a function of arrays on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Signature
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rbdgen.errors import ArrayTypeError, ArrayValueError
from rbdgen.gpu.array import DeviceArray
from rbdgen.gpu.device import Device, current_device, device_of
from rbdgen.gpu.launch import Launch
from rbdgen.gpu.machine_code import Loaded
from rbdgen.gpu.operand import Operand, Reading, check_apart, stream_among
from rbdgen.gpu.stream import Stream, stream_of
from rbdgen.runtime.arrays import check_shape
from rbdgen.runtime.compiled import NUMBERS, Given, identifier
from rbdgen.runtime.documentation import told
from rbdgen.runtime.pickled import results_type
from rbdgen.signature import SizedSignature

Row = Operand | npt.NDArray[Any]
"""An input: an array on a GPU, or the numbers of one state on the host."""


class Bound:
    """A call with fixed arrays, which only launches its kernel.

    Attributes:
        out: the results, an array or a named tuple of several.
    """

    def __init__(self, launch: Launch, out: Any, kept: Any) -> None:
        self.out = out
        self._launch, self._kept = launch, kept

    def __call__(self) -> Any:
        """Gives the work to the GPU, and returns `out`."""
        with self._launch.device.current():
            self._launch()
        return self.out


class Steps(NamedTuple):
    """The steps that a call of a kernel computes."""

    number: int = 1
    """The number of steps."""
    last: bool = True
    """Whether only the results of the last step are kept."""
    apart: tuple[str, ...] = ()
    """The inputs, besides the control, that have a value for each step."""


class KernelFunction:
    """A function whose kernel runs on a GPU: `tau = f(q, v, a)`.

    Arrays are in the memory of one GPU, of `dtype`, in C order and at addresses that are multiples of 16.
    They have leading axes for the states, the same for all. A number, an input without leading axes and the
    default of a missing input are shared by all states. A call gives the work to the GPU and returns before
    it is done. It copies no results to the host.

    Attributes:
        signature: the inputs and outputs.
        dtype: the type of the arrays.
        facts: the facts of the kernel, as in the manifest.
        cost: the number of operations of each kind.

    Raises, on a call:
        ArrayValueError: a shape does not fit, an array is not in C order or begins at another address, or
            results cannot be written to `out`.
        ArrayTypeError: an array is on the host, on another GPU or of another type, or too few or too many are
            given.
        DeviceError: there is no driver or no GPU, or it cannot run the kernel.
    """

    __signature__: Signature

    def __init__(
        self,
        signature: SizedSignature,
        facts: Mapping[str, Any],
        loaded: Loaded,
        real: str,
        steps: Steps | None = None,
    ) -> None:
        """Args:
        signature: the inputs and outputs.
        facts: the entry of the function in the manifest.
        loaded: its kernel.
        real: "float" or "double".
        steps: the steps of a rollout; None for a function.
        """
        self.signature, self._loaded, self._steps = signature, loaded, steps or Steps()
        self.facts: Mapping[str, Any] = MappingProxyType(facts["cuda"])
        self.cost: Mapping[str, int] = MappingProxyType(facts["operations"])
        self.dtype = np.dtype(np.float32 if real == "float" else np.float64)
        self.__name__ = signature.name
        self._given = Given.of(signature, self.dtype)
        self._reading = Reading(self.__name__, self.dtype)
        names = tuple(y.name for y in signature.outputs)
        self._results: list[str] = self.facts["arguments"][-len(names) :]
        self._tuple: Any = results_type(identifier(signature.name), names) if len(names) > 1 else None

    def __repr__(self) -> str:
        inputs, outputs = map(told, (self.signature.inputs, self.signature.outputs))
        return f"<{self.__name__}: {inputs} -> {outputs}; {self.facts['operations']} operations on a GPU>"

    def inputs(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """All inputs in order, whether they were passed by position or by name, with defaults for missing
        ones.
        """
        return self._given.filled(arrays, named)

    def packed(self, results: Sequence[Any]) -> Any:
        """Results as a call returns them: the only one, or a named tuple of several."""
        return results[0] if self._tuple is None else self._tuple(*results)

    def __call__(self, *arrays: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        """Gives the computation of the outputs to a GPU.

        Args:
            arrays, named: the inputs, by position or by name.
            out: an array, or one for each output, to which the results are written; new by default.
            stream: the stream that does the work; by default that of the first array that has one.

        Returns:
            `out`, or a `DeviceArray` for each output.
        """
        return self._called(arrays, named, out, stream).out

    def bind(self, *arrays: Any, out: Any = None, stream: Any = None, **named: Any) -> Bound:
        """A call with fixed arrays and a fixed stream: `step = f.bind(q, v, a)`, then `tau = step()`.

        `step()` only launches the kernel. It reads the arrays as they are then and writes to `step.out`,
        which is given here or made here. It checks nothing and waits for no other stream, so it may be
        captured in a CUDA graph. Arrays are kept as long as the bound call. Numbers and defaults are copied
        to the GPU here, once.
        """
        return self._called(arrays, named, out, stream, launches=False)

    def _called(
        self, arrays: Sequence[Any], named: Mapping[str, Any], out: Any, stream: Any, launches: bool = True
    ) -> Bound:
        """A call whose arrays are checked and whose stream waits for them; it is launched if so wanted."""
        values = self.inputs(arrays, named)
        chosen = stream_among(values) if stream is None else stream_of(self.__name__, stream)
        rows = {
            x.name: self._row(x.name, x.shape, value, chosen)
            for x, value in zip(self.signature.inputs, values, strict=True)
        }
        inputs = {name: row for name, row in rows.items() if isinstance(row, Operand)}
        leading = self._leading(inputs)
        outputs = {} if out is None else self._outputs(out, leading, inputs, chosen)
        device = self._device({**inputs, **outputs})
        launch = Launch(device, self._loaded.on(device), chosen, prod(leading))
        with device.current():
            if device.captures(chosen):
                raise ArrayValueError(
                    f"{self.__name__}: the stream is being captured in a CUDA graph; bind the call before, "
                    "and capture the bound call"
                )
            device.let_go()
            launch.wait_for([*inputs.values(), *outputs.values()])
            arguments = {"steps": self._steps.number, "last": int(self._steps.last)}
            for x, row in zip(self.signature.inputs, rows.values(), strict=True):
                apart = isinstance(row, Operand) and row.shape == leading + x.shape
                arguments[x.name] = row.address if isinstance(row, Operand) else launch.copied(row)
                arguments[f"{x.name}_step"] = x.size if apart else 0
                arguments[f"{x.name}_each"] = (
                    x.size // self._steps.number if x.name in self._steps.apart else 0
                )
            if out is None:
                made = [
                    DeviceArray(device, leading + y.shape, self.dtype, chosen) for y in self.signature.outputs
                ]
                addresses = [array.address for array in made]
                out = self.packed(made)
            else:
                addresses = [array.address for array in outputs.values()]
            arguments |= zip(self._results, addresses, strict=True)
            launch.set_arguments(self.__name__, arguments, self.facts)
            if launches:
                launch()
            launch.end(inputs.values(), outputs.values())
        return Bound(launch, out, (values, out, rows))

    def _row(self, name: str, shape: tuple[int, ...], value: Any, stream: Stream) -> Row:
        """An input: an array on a GPU, or one row on the host for a number or a default."""
        if value is self._given.defaults.get(name):
            return np.ascontiguousarray(value)
        if shape == () and isinstance(value, NUMBERS):
            return np.array(value, self.dtype)
        operand = self._reading.operand(name, value, stream)
        check_shape(self.__name__, name, operand.shape, shape)
        return operand

    def _leading(self, inputs: Mapping[str, Operand]) -> tuple[int, ...]:
        """The leading axes of all arrays that have some."""
        ranks = {x.name: len(x.shape) for x in self.signature.inputs}
        axes = {name: array.shape[: len(array.shape) - ranks[name]] for name, array in inputs.items()}
        found = {own for own in axes.values() if own}
        if len(found) > 1:
            told = ", ".join(f"{name} {own}" for name, own in axes.items() if own)
            raise ArrayValueError(
                f"{self.__name__}: leading axes differ: {told}; pass the same for all, or none"
            )
        return next(iter(found), ())

    def _outputs(
        self, out: Any, leading: tuple[int, ...], inputs: Mapping[str, Operand], stream: Stream
    ) -> dict[str, Operand]:
        """The arrays of the caller for the results, after a check."""
        given = (out,) if self._tuple is None else out
        wanted = self.signature.outputs
        if not isinstance(given, (tuple, list)) or len(given) != len(wanted):
            names = ", ".join(y.name for y in wanted)
            raise ArrayTypeError(f"{self.__name__}: out must be a tuple of {len(wanted)} arrays: {names}")
        found = {}
        for y, array in zip(wanted, given, strict=True):
            name = f"out for {y.name}"
            found[name] = self._reading.operand(name, array, stream, written=True)
            if (shape := found[name].shape) != leading + y.shape:
                raise ArrayValueError(
                    f"{self.__name__}: {name} has shape {shape}, expected {leading + y.shape}"
                )
        check_apart(self.__name__, found, inputs)
        return found

    def _device(self, operands: Mapping[str, Operand]) -> Device:
        """The GPU of all arrays; that of the calling thread if there are none."""
        places = {name: x.ordinal for name, x in operands.items() if x.ordinal is not None}
        if len(set(places.values())) > 1:
            told = ", ".join(f"{name} on {ordinal}" for name, ordinal in places.items())
            raise ArrayTypeError(f"{self.__name__}: arrays are on different GPUs ({told}); copy them to one")
        return device_of(next(iter(places.values()))) if places else current_device()
