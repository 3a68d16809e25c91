"""Generated functions as functions of JAX: jit, vmap, grad, jacfwd and jacrev, each a call of C inside XLA.

`linear` is what differentiation sees: the product of a function's Jacobian, or of its transpose, with
vectors. Its two forms are each other's transposes, so forward and reverse mode come from one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbdgen.errors import ArrayTypeError, BuildError
from rbdgen.frameworks.bridge import Bridge, compiled, existing
from rbdgen.frameworks.differentiable import Differentiable, check, disagreeing, native
from rbdgen.frameworks.functions import More
from rbdgen.runtime import Function, Library
from rbdgen.signature import SizedArgument

try:
    import jax
    import jax.ffi
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
except ImportError as error:
    raise BuildError(f"lib.jax: JAX is missing or too old ({error}); pip install -U 'rbdgen[jax]'") from error

Arrays = Sequence[Any]

TARGET = "rbdgen_evaluate"

linear = Primitive("rbdgen_linear")
linear.multiple_results = True


def bridge() -> Bridge:
    """JAX's, its handler registered with XLA."""
    version = jax.__version__
    headers = existing("jax", version, [jax.ffi.include_dir()], "xla/ffi/api/ffi.h")
    made = compiled("jax", version, ("-std=c++17", *headers))
    if TARGET not in _registered:
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(made.library.rbdgen_evaluate), platform="cpu")
        _registered.add(TARGET)
    return made


_registered: set[str] = set()


def call(function: Function, arrays: Arrays) -> list[Any]:
    """C's results for arrays of the same leading axes."""
    results = _results(function.signature.inputs, function.signature.outputs, arrays)
    evaluate = jax.ffi.ffi_call(TARGET, results, vmap_method="broadcast_all")
    return list(evaluate(*arrays, key=np.int64(bridge().key(function))))


def function_of(library: Library, more: More | None, name: str) -> Callable[..., Any]:
    """The function of JAX; results as from the library: an array, or a named tuple of several."""
    bridge()
    value = library.functions[name]
    differentiable = Differentiable(value, library, more)

    def values(*arrays: Any) -> list[Any]:
        return call(value, arrays)

    evaluate = jax.custom_jvp(values)

    def push_forward(primals: Arrays, tangents: Arrays) -> tuple[Any, Any]:
        moving = {k for k, tangent in enumerate(tangents) if not isinstance(tangent, SymbolicZero)}
        for k in moving.difference(differentiable.by):
            raise differentiable.no_derivative(k)
        dots = [tangents[k] if k in moving else jnp.zeros_like(primals[k]) for k in differentiable.by]
        return evaluate(*primals), linear.bind(*primals, *dots, of=differentiable, transposed=False)

    evaluate.defjvp(push_forward, symbolic_zeros=True)

    def checked(*arrays: Any, **named: Any) -> Any:
        given = [
            _real(value, x, array)
            for x, array in zip(value.signature.inputs, value.inputs(arrays, named), strict=True)
        ]
        return value.packed(evaluate(*_of_one_leading(value, given)))

    checked.__name__ = checked.__qualname__ = value.__name__
    checked.__doc__ = value.__doc__
    return checked


def _real(function: Function, argument: SizedArgument, given: Any) -> Any:
    """An argument as JAX's array, once it is found fit."""
    name = function.__name__
    if isinstance(given, np.ndarray):
        given = native(function, argument, given)
    try:
        array = jnp.asarray(given, function.dtype if isinstance(given, (int, float)) else None)
    except (TypeError, ValueError) as error:
        raise ArrayTypeError(f"{name}: {argument.name} is no array; pass real numbers") from error
    if not isinstance(array, jax.core.Tracer) and any(device.platform != "cpu" for device in array.devices()):
        raise ArrayTypeError(
            f"{name}: {argument.name} lies on {array.device}, the functions run on the CPU; "
            "pass jax.device_put(array, jax.devices('cpu')[0])"
        )
    advice = (
        "say jax.config.update('jax_enable_x64', True) first, or build with real='float'"
        if function.dtype == np.float64
        else "pass array.astype('float32'), or build with real='double'"
    )
    check(name, argument, array.shape, str(array.dtype), str(function.dtype), advice)
    return array


def _of_one_leading(function: Function, arrays: Arrays) -> list[Any]:
    """The arrays with their leading axes broadcast against each other."""
    inputs = function.signature.inputs
    own = [array.shape[: array.ndim - len(x.shape)] for x, array in zip(inputs, arrays, strict=True)]
    try:
        leading = jnp.broadcast_shapes(*own)
    except ValueError as error:
        raise disagreeing(function, [array.shape for array in arrays]) from error
    return [jnp.broadcast_to(array, leading + x.shape) for x, array in zip(inputs, arrays, strict=True)]


def _results(inputs: Sequence[SizedArgument], outputs: Sequence[SizedArgument], arrays: Arrays) -> list[Any]:
    """Shapes and types of results."""
    first = arrays[0]
    leading = first.shape[: first.ndim - len(inputs[0].shape)]
    return [jax.ShapeDtypeStruct(leading + output.shape, first.dtype) for output in outputs]


def _linear(*arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    return call(of.vjp if transposed else of.jvp, arrays)


def _linear_shapes(*arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    results = _results(of.inputs, [of.inputs[k] for k in of.by] if transposed else of.outputs, arrays)
    return [jax.core.ShapedArray(result.shape, result.dtype) for result in results]


def _linear_batched(arrays: Arrays, axes: Arrays, **which: Any) -> tuple[list[Any], list[int]]:
    """States are leading axes: one more of them."""
    size = next(array.shape[axis] for array, axis in zip(arrays, axes, strict=True) if axis is not None)
    moved = [
        jnp.broadcast_to(array, (size, *array.shape)) if axis is None else jnp.moveaxis(array, axis, 0)
        for array, axis in zip(arrays, axes, strict=True)
    ]
    results = linear.bind(*moved, **which)
    return results, [0] * len(results)


def _linear_transposed(cotangents: Arrays, *arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    at, vectors = arrays[: len(of.inputs)], arrays[len(of.inputs) :]
    if any(map(ad.is_undefined_primal, at)):
        raise _no_second(of)
    given = [ad.instantiate_zeros(cotangent) for cotangent in cotangents]
    found = linear.bind(*at, *given, of=of, transposed=not transposed)
    wanted = [
        result if ad.is_undefined_primal(vector) else None
        for result, vector in zip(found, vectors, strict=True)
    ]
    return [None] * len(at) + wanted


def _linear_jvp(
    primals: Arrays, tangents: Arrays, *, of: Differentiable, transposed: bool
) -> tuple[Any, Any]:
    count = len(of.inputs)
    if any(type(tangent) is not ad.Zero for tangent in tangents[:count]):
        raise _no_second(of)
    dots = [ad.instantiate_zeros(tangent) for tangent in tangents[count:]]
    which = {"of": of, "transposed": transposed}
    return linear.bind(*primals, **which), linear.bind(*primals[:count], *dots, **which)


def _no_second(of: Differentiable) -> ArrayTypeError:
    return ArrayTypeError(
        f"{of.name}: JAX asks for its second derivatives, which lib.jax has not; take {of.name}_hvp of the "
        "library, or first derivatives alone (Gauss-Newton)"
    )


linear.def_impl(_linear)
linear.def_abstract_eval(_linear_shapes)
mlir.register_lowering(linear, mlir.lower_fun(_linear, multiple_results=True))
batching.primitive_batchers[linear] = _linear_batched
ad.primitive_transposes[linear] = _linear_transposed
ad.primitive_jvps[linear] = _linear_jvp
