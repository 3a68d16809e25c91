"""Calls compiled code in all ways, many of which are refused, in a Python with the address sanitizer."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rbdgen
from rbdgen.errors import RbdgenError
from rbdgen.runtime import Library

STATES = 300
LARGE = 5000
"""A number of states for which results are so large that their memory is reused."""


def main(path: Path, reals: Sequence[str]) -> None:
    """Calls every function of a robot with two joints, with arrays of exactly the right size."""
    robot = rbdgen.load_robot(path)
    for real in reals:
        library = rbdgen.build(robot, functions=["rnea", "crba", "rnea_derivatives"], real=real)
        for name in library.functions:
            _calls(library, name)
        callers = [threading.Thread(target=_calls, args=(library, "rnea")) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()


def _calls(library: Library, name: str) -> None:
    function: Any = library.functions[name]
    dtype = function.dtype
    ranks = [len(argument.shape) for argument in function.signature.outputs]
    several = ((0,), (1,), (7,), (STATES,), (LARGE,), (3, 5))
    for leading in ((), *several, *((1,) * axes for axes in range(2, 65))):
        if len(leading) + 1 > 64:
            continue
        inputs = [np.full((*leading, *argument.shape), 0.3, dtype) for argument in function.signature.inputs]
        for threads in (1, 3, 256):
            _tried(partial(function, *inputs, threads=threads))
        if len(leading) + max(ranks) <= 64:
            outputs = tuple(np.empty((*leading, *x.shape), dtype) for x in function.signature.outputs)
            out: Any = outputs if len(outputs) > 1 else outputs[0]
            _tried(partial(function, *inputs, out=out))
            _tried(partial(_bound, function, *inputs, out=out))
        _tried(partial(function, *inputs, out=inputs[0]))
        _tried(partial(_bound, function, *inputs))
        _tried(partial(function, *inputs[:-1]))
        _tried(partial(function, *(x[..., :-1] for x in inputs)))


def _bound(function: Any, *inputs: Any, **out: Any) -> None:
    function.bind(*inputs, **out)()


def _tried(call: Callable[[], Any]) -> None:
    with suppress(RbdgenError):
        call()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
