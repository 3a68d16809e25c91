"""Hostile arrays and calls into a compiled library: each call is right, or refused in one line.

A result is right if it equals that of calls for one state at a time, which check and convert everything, on
clean arrays.
"""

from __future__ import annotations

import gc
import math
import operator
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from support.robots import PATHS

import rbdgen
from campaigns.guard import Case, tallied, unclear
from campaigns.pickles import tampered
from campaigns.tally import Tally
from rbdgen.errors import RbdgenError
from rbdgen.runtime import Library

KINDS = ("arrays", "outputs", "threads", "bound calls", "leaks", "pickles")
SIZE = 2000
SMALL = 4
FUNCTIONS = ("rnea", "crba", "rnea_derivatives")
FEW_AXES = 30
"""Calls with at most so many leading axes must be accepted; those with more may be refused."""

MOST_AXES = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32

Array = np.ndarray[Any, Any]


def run(seed: int, size: int) -> Tally:
    """Runs `size` calls, a tenth as many pickles, and a few cases of concurrent callers and of leaks."""
    robot = rbdgen.load_robot(PATHS["double_pendulum"])
    libraries = [rbdgen.build(robot, functions=FUNCTIONS, real=real) for real in ("double", "float")]
    return tallied(_cases(random.Random(seed), size, libraries))


def _cases(rng: random.Random, size: int, libraries: list[Library]) -> Iterator[Case]:
    for _ in range(size):
        library, name, number = rng.choice(libraries), rng.choice(FUNCTIONS), rng.getrandbits(32)
        yield Case(
            f"call {name} {number} in {library.manifest['real']}", partial(_call, library, name, number)
        )
    for library in libraries:
        for name in FUNCTIONS:
            yield Case(f"leaks of {name}", partial(_leaks, library, name, 10 * size))
        yield Case("callers at once", partial(_concurrent, library, rng.getrandbits(32), max(20, size // 10)))
    for _ in range(size // 10 + 1):
        number = rng.getrandbits(32)
        yield Case(f"pickle {number}", partial(tampered, libraries[0], number))


# ---- arrays


class Layout(NamedTuple):
    """A way to store the same numbers; `taken` says whether a function must accept it."""

    taken: bool
    made: Callable[[Array], Any]


def _strided(x: Array) -> Array:
    return np.repeat(x, 2, axis=-1)[..., ::2]


def _reversed(x: Array) -> Array:
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1]


def _misaligned(x: Array) -> Array:
    raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    raw[...] = x
    return raw


def _read_only(x: Array) -> Array:
    x = x.copy()
    x.flags.writeable = False
    return x


class Subclass(np.ndarray[Any, Any]):
    """A subclass of NumPy's arrays."""


LAYOUTS: dict[str, Layout] = {
    "C order": Layout(True, np.ascontiguousarray),
    "Fortran order": Layout(True, np.asfortranarray),
    "strided": Layout(True, _strided),
    "reversed": Layout(True, _reversed),
    "misaligned": Layout(True, _misaligned),
    "read-only": Layout(True, _read_only),
    "big-endian": Layout(True, lambda x: x.astype(x.dtype.newbyteorder(">"))),
    "list": Layout(True, lambda x: x.tolist()),
    "subclass": Layout(True, lambda x: x.view(Subclass)),
    "record": Layout(True, lambda x: x.view(np.recarray)),
    "masked": Layout(False, np.ma.array),
    "objects": Layout(False, lambda x: x.astype(object)),
    "texts": Layout(False, lambda x: x.astype(str)),
    "complex": Layout(False, lambda x: x.astype(complex)),
    "fields": Layout(False, lambda x: x.astype([("x", "f8")])),
    "times": Layout(False, lambda x: x.astype("m8[s]")),
    "too long": Layout(False, lambda x: np.concatenate([x, x[..., :1]], axis=-1)),
    "too short": Layout(False, lambda x: x[..., :-1]),
    "one number": Layout(False, lambda x: 0.5),
    "nothing": Layout(False, lambda x: None),
    "ragged": Layout(False, lambda x: [[0.1], [0.1, 0.2]]),
    "text": Layout(False, lambda x: "0.1 0.2"),
    "a mapping": Layout(False, lambda x: {"q": 1.0}),
}
TAKEN = [name for name, layout in LAYOUTS.items() if layout.taken]

DTYPES = ("f8", "f4", "f2", "g", "i8", "u1", "i2", "?")

VALUES: tuple[Callable[[np.random.Generator, tuple[int, ...]], Array], ...] = (
    lambda rng, shape: rng.standard_normal(shape),
    lambda rng, shape: rng.choice([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf], shape),
    lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.integers(-300, 300),
    lambda rng, shape: rng.choice([5e-324, -5e-324, 1e-310, 2.2e-308], shape),
    lambda rng, shape: np.full(shape, 0.25),
)

THREADS: dict[Any, bool] = {
    1: True, 2: True, 3: True, 255: True, 257: True, 10**9: True,
    0: False, -1: False, 2.5: False, "2": False, None: False, (1,): False,
}  # fmt: skip
"""Numbers of threads, and whether they are valid."""


def _leading(rng: random.Random) -> tuple[int, ...]:
    """Draws leading axes: up to so many that, with the axis of a vector, NumPy's limit is reached.

    With the two axes of a matrix, the limit is then exceeded.
    """
    drawn = rng.choice(("none", "one", "several", "many", "empty"))
    if drawn == "none":
        return ()
    if drawn == "one":
        return (rng.choice((1, 2, 7, 8, 9, 16, 17, 33, 200)),)
    if drawn == "several":
        return tuple(rng.choice((1, 2, 3)) for _ in range(rng.randint(2, 4)))
    if drawn == "many":
        axes = rng.randint(5, MOST_AXES - 1)
        return tuple(2 if k == axes // 2 else 1 for k in range(axes))
    return rng.choice(((0,), (3, 0), (0, 2)))


def _own(rng: random.Random, leading: tuple[int, ...]) -> tuple[int, ...]:
    """Draws leading axes of one argument, which broadcast to these."""
    drawn = rng.choice(("all", "all", "none", "some"))
    if drawn == "some":
        kept = leading[rng.randint(0, len(leading)) :]
        return tuple(n if n == 0 or rng.random() < 0.5 else 1 for n in kept)
    return leading if drawn == "all" else ()


def _call(library: Library, name: str, number: int) -> str | None:
    """Tries one call with random arguments, and says what is wrong with it, if anything."""
    rng, values = random.Random(number), np.random.default_rng(number)
    function = library.functions[name]
    leading = _leading(rng)
    plain = [
        rng.choice(VALUES)(values, (*_own(rng, leading), *argument.shape))
        for argument in function.signature.inputs
    ]
    with np.errstate(all="ignore"):
        plain = [x.astype(rng.choice(DTYPES) if rng.random() < 0.4 else "f8") for x in plain]
    layouts = [
        rng.choice(list(LAYOUTS)) if rng.random() < 0.08 else rng.choice([*TAKEN, "C order"]) for _ in plain
    ]
    for k, x in enumerate(plain):
        if layouts[k] == "list" and x.size == 0:
            layouts[k] = "C order"  # a list of no states does not show the length of a state
    given = [LAYOUTS[layout].made(x) for x, layout in zip(plain, layouts, strict=True)]
    fits = all(LAYOUTS[layout].taken for layout in layouts)
    threads, sensible = rng.choice(list(THREADS.items())) if rng.random() < 0.3 else (1, True)
    shape = _broadcast([x.shape[:-1] for x in plain])
    out, whole = _output(rng, function, shape, given)
    fits = fits and sensible
    what = f"{name}({', '.join(layouts)}) on {shape}, out {type(out).__name__}, threads {threads!r}"
    try:
        result = function(*given, out=out, threads=threads)
    except RbdgenError as error:
        if fits and whole and len(shape) <= FEW_AXES:
            return f"{what} is refused: {error}"
        return unclear(error)
    if not fits or whole is False:
        return f"{what} is taken"
    return _compared(what, function, plain, result)


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Broadcasts shapes as NumPy does, but with any number of axes."""
    axes = max(map(len, shapes))
    columns = zip(*((1,) * (axes - len(shape)) + shape for shape in shapes), strict=True)
    return tuple(next((n for n in column if n != 1), 1) for column in columns)


def _output(
    rng: random.Random, function: Any, shape: tuple[int, ...], given: list[Any]
) -> tuple[Any, bool | None]:
    """Draws a value for `out`, and says whether a call must accept it.

    The second result is None if the call may accept or refuse it.
    """
    drawn = rng.choice(
        ("none", "none", "none", "new", "input", "read-only", "short", "other", "list", "same")
    )
    shapes = [(*shape, *argument.shape) for argument in function.signature.outputs]
    if drawn == "none" or any(len(s) > MOST_AXES for s in shapes):
        return None, True
    arrays: list[Any] = [np.empty(s, function.dtype) for s in shapes]
    right: bool | None = True
    if drawn == "input":
        arrays[0] = given[0]
        right = None if 0 in shape else False  # nothing overlaps nothing
    elif drawn == "read-only":
        arrays[-1].flags.writeable = False
        right = False
    elif drawn == "short":
        arrays[0] = arrays[0][..., :-1]
        right = False
    elif drawn == "other":
        arrays[-1] = arrays[-1].astype("f4" if function.dtype == np.float64 else "f8")
        right = False
    elif drawn == "list":
        arrays[0] = arrays[0].tolist()
        right = False
    elif drawn == "same" and len(arrays) > 1:
        arrays[1] = arrays[0]
        right = None if 0 in shape else False
    return (arrays[0] if len(arrays) == 1 else tuple(arrays)), right


def _compared(what: str, function: Any, plain: list[Array], result: Any) -> str | None:
    """The first difference from the results of careful calls for single states on clean arrays, or None."""
    leading = _broadcast([x.shape[:-1] for x in plain])
    with np.errstate(all="ignore"):
        clean = [np.ascontiguousarray(x, function.dtype) for x in plain]
    if len(leading) > FEW_AXES:  # too many for NumPy to broadcast; at most one of them is longer than 1
        leading_of_clean: tuple[int, ...] = (math.prod(leading),)
        clean = [x.reshape(-1, x.shape[-1]) for x in clean]
    else:
        leading_of_clean = leading
    clean = [np.broadcast_to(x, (*leading_of_clean, x.shape[-1])).reshape(-1, x.shape[-1]) for x in clean]
    results = result if isinstance(result, tuple) else (result,)
    for argument, values in zip(function.signature.outputs, results, strict=True):
        if values.shape != (*leading, *argument.shape) or values.dtype != function.dtype:
            return f"{what}: {argument.name} has shape {values.shape}, dtype {values.dtype}"
    flat = [
        values.reshape(-1, *argument.shape)
        for values, argument in zip(results, function.signature.outputs, strict=True)
    ]
    for state, arrays in enumerate(zip(*clean, strict=True)):
        alone = function._careful([x.copy() for x in arrays], None, 1)
        for values, expected in zip(flat, alone if isinstance(alone, tuple) else (alone,), strict=True):
            if not np.array_equal(values[state], expected, equal_nan=True):
                return f"{what}: state {state} is {values[state].tolist()}, not {expected.tolist()}"
    return None


# ---- many callers, many calls


def _concurrent(library: Library, number: int, rounds: int) -> str | None:
    """Checks the results of eight threads that call, bind and share functions, each with its own numbers."""
    problems: list[str] = []

    def caller(k: int) -> None:
        rng = np.random.default_rng(number + k)
        name = FUNCTIONS[k % len(FUNCTIONS)]
        function: Any = library.functions[name]
        inputs = [
            rng.standard_normal((40, *x.shape)).astype(function.dtype) for x in function.signature.inputs
        ]
        bound = function.bind(*inputs, threads=k + 1)
        for _ in range(rounds):
            bound()
            for result in (bound.out, function(*inputs, threads=3)):
                if problem := _compared(f"{name} beside others", function, inputs, result):
                    problems.append(problem)

    callers = [threading.Thread(target=caller, args=(k,)) for k in range(8)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    return problems[0] if problems else None


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _leaks(library: Library, name: str, calls: int) -> str | None:
    """Checks that calls of every kind, also refused ones, keep no references and do not let memory grow."""
    function: Any = library.functions[name]
    inputs = [np.full((3, *x.shape), 0.5, function.dtype) for x in function.signature.inputs]
    one = [x[0].copy() for x in inputs]
    outputs = tuple(np.empty((3, *x.shape), function.dtype) for x in function.signature.outputs)
    out: Any = outputs if len(outputs) > 1 else outputs[0]
    ways: list[Callable[[], Any]] = [
        lambda: function(*inputs),
        lambda: function(*one),
        lambda: function(*inputs, out=out),
        lambda: _bound(function, one),
        lambda: _bound(function, inputs),
        lambda: function(*(x.tolist() for x in one)),
        lambda: _quietly(lambda: function(*inputs, out=inputs[0])),
        lambda: _quietly(lambda: function(*one[:-1], "x")),
    ]
    kept = [*inputs, *one, *outputs, out, function, None]

    def rounds(count: int) -> None:
        for _ in range(count):
            for way in ways:
                way()
        gc.collect()

    rounds(200)
    references, memory = [sys.getrefcount(x) for x in kept], _resident()
    rounds(max(1, calls // len(ways)))
    grown = max(map(operator.sub, [sys.getrefcount(x) for x in kept], references))
    more = _resident() - memory
    if grown > 50:
        return f"{grown} references more after {calls} calls"
    return f"{more} bytes more after {calls} calls" if more > 4_000_000 else None


def _bound(function: Any, arrays: list[Array]) -> None:
    function.bind(*arrays)()


def _quietly(call: Callable[[], Any]) -> None:
    try:
        call()
    except RbdgenError:
        pass
    else:
        raise AssertionError("taken, though it does not fit")
