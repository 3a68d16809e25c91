"""Generated functions as functions of JAX, for jit, vmap, grad, jacfwd and jacrev; XLA calls the C directly.

There are three primitives:

- `plain` is a function itself.
- `linear` is its derivative: the product of its Jacobian J, or of J^T, with vectors. Each of the two is the
  transpose of the other, so one rule serves forward and reverse mode.
- `bent` is the derivative of `linear`: the rate of J^T y_bar along x_dot, of which Hessians are made. There
  is no function for the rate of J a_dot along b_dot, but its transposes, which reverse mode uses, are
  products with the same Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbdgen.errors import ArrayTypeError, BuildError
from rbdgen.frameworks.bridge import Bridge, compiled, existing
from rbdgen.frameworks.differentiable import Differentiable, check, disagreeing, native
from rbdgen.frameworks.functions import More
from rbdgen.frameworks.parameters import Update
from rbdgen.runtime import Function, Library
from rbdgen.signature import UPDATE, SizedArgument

try:
    import jax
    import jax.ffi
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
except ImportError as error:
    raise BuildError(f"lib.jax: JAX is missing or too old ({error}); pip install -U 'rbdgen[jax]'") from error

Arrays = Sequence[Any]

TARGET = "rbdgen_evaluate"

plain, linear, bent = (Primitive(f"rbdgen_{name}") for name in ("plain", "linear", "bent"))


def bridge() -> Bridge:
    """The bridge to JAX, with its handler registered with XLA."""
    version = jax.__version__
    headers = existing("jax", version, [jax.ffi.include_dir()], "xla/ffi/api/ffi.h")
    made = compiled("jax", version, ("-std=c++17", *headers))
    if TARGET not in _registered:
        jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(made.library.rbdgen_evaluate), platform="cpu")
        _registered.add(TARGET)
    return made


_registered: set[str] = set()


def call(function: Function, arrays: Arrays) -> list[Any]:
    """The results of the C function for arrays with the same leading axes."""
    results = _results(function.signature.inputs, function.signature.outputs, arrays)
    evaluate = jax.ffi.ffi_call(TARGET, results, vmap_method="broadcast_all")
    return list(evaluate(*arrays, key=np.int64(bridge().key(function))))


def function_of(library: Library, more: More | None, name: str) -> Callable[..., Any]:
    """The function for JAX. Its results are those of the library: an array, or a named tuple of several.

    An integration step without further results returns a plain tuple, as `jax.lax.scan` needs for the state
    that it carries.
    """
    bridge()
    value = library.functions[name]
    differentiable = Differentiable(value, library, more)
    rolling = value.signature.rolling
    carried = rolling is not None and rolling.state == len(value.signature.outputs)

    def checked(*arrays: Any, **named: Any) -> Any:
        given = [
            _real(value, x, array)
            for x, array in zip(value.signature.inputs, value.inputs(arrays, named), strict=True)
        ]
        found = plain.bind(*_of_one_leading(value, given), of=differentiable)
        return tuple(found) if carried else value.packed(found)

    checked.__name__ = checked.__qualname__ = value.__name__
    checked.__doc__ = value.__doc__
    return Update(library, checked, _real, _stacked, jnp.exp) if name == UPDATE else checked


def _stacked(arrays: Arrays) -> Any:
    return jnp.stack(jnp.broadcast_arrays(*arrays), -1)


def _real(function: Function, argument: SizedArgument, given: Any) -> Any:
    """An argument as an array of JAX. Raises ArrayTypeError or ArrayValueError if C cannot read it."""
    name = function.__name__
    if isinstance(given, np.ndarray):
        given = native(function, argument, given)
    try:
        array = jnp.asarray(given, function.dtype if isinstance(given, (int, float)) else None)
    except (TypeError, ValueError) as error:
        raise ArrayTypeError(f"{name}: {argument.name} is no array; pass real numbers") from error
    if not isinstance(array, jax.core.Tracer) and any(device.platform != "cpu" for device in array.devices()):
        raise ArrayTypeError(
            f"{name}: {argument.name} is on {array.device}, but the functions run on the CPU; "
            "pass jax.device_put(array, jax.devices('cpu')[0])"
        )
    advice = (
        "call jax.config.update('jax_enable_x64', True) first, or build with real='float'"
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
    """The shapes and types of the results."""
    first = arrays[0]
    leading = first.shape[: first.ndim - len(inputs[0].shape)]
    return [jax.ShapeDtypeStruct(leading + output.shape, first.dtype) for output in outputs]


def _plain(*arrays: Any, of: Differentiable) -> list[Any]:
    return call(of.value, arrays)


def _plain_shapes(*arrays: Any, of: Differentiable) -> list[Any]:
    return _abstract(_results(of.inputs, of.outputs, arrays))


def _abstract(results: Arrays) -> list[Any]:
    return [jax.core.ShapedArray(result.shape, result.dtype) for result in results]


def _plain_jvp(primals: Arrays, tangents: Arrays, *, of: Differentiable) -> tuple[Any, Any]:
    _, dots = _moving(of, tangents)
    return plain.bind(*primals, of=of), linear.bind(*primals, *dots, of=of, transposed=False)


def _moving(of: Differentiable, tangents: Arrays) -> tuple[bool, list[Any]]:
    """Whether any input has a tangent, and the tangents of the inputs that have derivatives.

    Raises ArrayTypeError if another input has a tangent.
    """
    moving = {k for k, tangent in enumerate(tangents) if type(tangent) is not ad.Zero}
    for k in moving.difference(of.by):
        raise of.no_derivative(k)
    return bool(moving), [ad.instantiate_zeros(tangents[k]) for k in of.by]


def _linear(*arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    return _product(of, of.vjp if transposed else of.jvp, arrays)


def _product(of: Differentiable, function: Function, arrays: Arrays) -> list[Any]:
    """A product with derivatives, for arrays in JAX's order: the inputs, then the vectors.

    In C the order may differ, as a parameter table is the last input.
    """
    own = [x.name for x in of.inputs]
    vectors = [x.name for x in function.signature.inputs if x.name not in own]
    given = dict(zip([*own, *vectors], arrays, strict=True))
    return call(function, [given[x.name] for x in function.signature.inputs])


def _linear_shapes(*arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    outputs = [of.inputs[k] for k in of.by] if transposed else of.outputs
    return _abstract(_results(of.inputs, outputs, arrays))


def _batched(primitive: Primitive) -> Callable[..., Any]:
    """The batching rule of a primitive, which adds a leading axis."""

    def rule(arrays: Arrays, axes: Arrays, **which: Any) -> tuple[list[Any], list[int]]:
        size = next(array.shape[axis] for array, axis in zip(arrays, axes, strict=True) if axis is not None)
        moved = [
            jnp.broadcast_to(array, (size, *array.shape)) if axis is None else jnp.moveaxis(array, axis, 0)
            for array, axis in zip(arrays, axes, strict=True)
        ]
        results = primitive.bind(*moved, **which)
        return results, [0] * len(results)

    return rule


def _linear_transposed(cotangents: Arrays, *arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    at, vectors = arrays[: len(of.inputs)], arrays[len(of.inputs) :]
    given = [ad.instantiate_zeros(cotangent) for cotangent in cotangents]
    return [None] * len(at) + _wanted(linear.bind(*at, *given, of=of, transposed=not transposed), vectors)


def _wanted(found: Arrays, vectors: Arrays) -> list[Any]:
    """The results for the vectors that a transposition asks for, None for the others."""
    pairs = zip(found, vectors, strict=True)
    return [result if ad.is_undefined_primal(vector) else None for result, vector in pairs]


def _linear_jvp(
    primals: Arrays, tangents: Arrays, *, of: Differentiable, transposed: bool
) -> tuple[Any, Any]:
    count, which = len(of.inputs), {"of": of, "transposed": transposed}
    moving, dots = _moving(of, tangents[:count])
    moved = bent.bind(*primals, *dots, **which) if moving else None
    if moved is None or any(type(tangent) is not ad.Zero for tangent in tangents[count:]):
        own = linear.bind(*primals[:count], *map(ad.instantiate_zeros, tangents[count:]), **which)
        moved = own if moved is None else [x + y for x, y in zip(moved, own, strict=True)]
    return linear.bind(*primals, **which), moved


def _bent(*arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    """The rate of J^T y_bar along x_dot. That of J a_dot along b_dot only exists for transposition.

    A function does not depend on the length of a quaternion, so its gradient is inversely proportional to
    that length. This adds a term along the quaternion.
    """
    if not transposed:
        raise _no_more(of)
    count, bars = len(of.inputs), len(of.outputs)
    found, dots = _product(of, of.hvp, arrays), arrays[count + bars :]
    for k, x in enumerate(of.by):
        if of.inputs[x].kind == "configuration":
            gradient = _product(of, of.vjp, arrays[: count + bars])[k]
            for at in of.library.manifold.quaternions:
                own = slice(at, at + 4)
                along = jnp.sum(arrays[x][..., own] * dots[k][..., own], -1, keepdims=True)
                found[k] = found[k].at[..., own].add(-along * gradient[..., own])
    return found


def _bent_transposed(cotangents: Arrays, *arrays: Any, of: Differentiable, transposed: bool) -> list[Any]:
    """The transpose of the trilinear form y_bar (d2f) a_dot b_dot with respect to one of its vectors."""
    count, middle = len(of.inputs), len(of.outputs) if transposed else len(of.by)
    at, first, second = arrays[:count], arrays[count : count + middle], arrays[count + middle :]
    given = [ad.instantiate_zeros(cotangent) for cotangent in cotangents]
    if any(map(ad.is_undefined_primal, second)):
        pair = (*first, *given) if transposed else (*given, *first)
        return [None] * (count + middle) + _wanted(bent.bind(*at, *pair, of=of, transposed=True), second)
    pair = (*given, *second)
    found = _wanted(bent.bind(*at, *pair, of=of, transposed=not transposed), first)
    return [None] * count + found + [None] * len(second)


def _bent_jvp(primals: Arrays, tangents: Arrays, *, of: Differentiable, transposed: bool) -> tuple[Any, Any]:
    count, which = len(of.inputs), {"of": of, "transposed": transposed}
    middle = count + (len(of.outputs) if transposed else len(of.by))
    if any(type(tangent) is not ad.Zero for tangent in tangents[:count]):
        raise _no_more(of)
    moved = [ad.instantiate_zeros(tangent) for tangent in tangents]
    one = bent.bind(*primals[:count], *moved[count:middle], *primals[middle:], **which)
    other = bent.bind(*primals[:middle], *moved[middle:], **which)
    return bent.bind(*primals, **which), [x + y for x, y in zip(one, other, strict=True)]


def _no_more(of: Differentiable) -> ArrayTypeError:
    return ArrayTypeError(
        f"{of.name}: lib.jax has no third derivatives, and no jax.jacfwd of jax.jacfwd; "
        "take jax.hessian for second derivatives"
    )


for primitive, evaluate, shapes, push in (
    (plain, _plain, _plain_shapes, _plain_jvp),
    (linear, _linear, _linear_shapes, _linear_jvp),
    (bent, _bent, _linear_shapes, _bent_jvp),
):
    primitive.multiple_results = True
    primitive.def_impl(evaluate)
    primitive.def_abstract_eval(shapes)
    mlir.register_lowering(primitive, mlir.lower_fun(evaluate, multiple_results=True))
    batching.primitive_batchers[primitive] = _batched(primitive)
    ad.primitive_jvps[primitive] = push
ad.primitive_transposes[linear] = _linear_transposed
ad.primitive_transposes[bent] = _bent_transposed
