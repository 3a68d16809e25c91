"""Bounds the work that the expressions of a xacro may do, in steps and sizes, never in seconds.

A few letters can ask for all memory of a machine, such as `9**9**9` or `"a" * 10**12`, and a short loop can
run for ever. `Work` checks every operation and call before it runs, and its result afterwards.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from itertools import islice
from string import Formatter
from types import BuiltinFunctionType, ClassMethodDescriptorType, MethodDescriptorType, ModuleType
from typing import Any, Final

MOST_STEPS: Final = 10_000_000
"""The largest number of steps for all expressions of a file. Robots with hundreds of macros take a tenth."""

LARGEST: Final = 100_000
"""The largest size of a value, in units of about 8 bytes. Items that occur twice count twice."""

MOST_BITS: Final = 4096
"""The largest size of an integer, in bits."""

MOST_AT_ONCE: Final = 10_000_000
"""The largest product of the sizes of a call's arguments; it bounds the result of `"...".replace(...)`."""

WIDEST: Final = 1000
"""The largest width or precision of a format; also the largest argument of a factorial."""

_CONTAINERS: Final = (list, tuple, set, frozenset, dict, KeysView, ValuesView, ItemsView)

_COUNTING: Final = (math.factorial, math.comb, math.perm)
_MULTIPLYING: Final = (math.prod, math.lcm)

_CONVERSION: Final = re.compile(r"%(?:\([^)]*\))?[-#0 +]*([*\d]*(?:\.[*\d]*)?)")
"""Matches the width and precision of `"%8.3f" % x`."""

_OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "MatMult": operator.matmul,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "BitAnd": operator.and_,
}


_CONVERSIONS: Final[dict[int, Callable[[Any], str]]] = dict(zip(b"sra", (str, repr, ascii), strict=True))
"""The conversions of an f-string, such as `!r`, by their codes in the syntax tree."""


class RefusedExpressionError(Exception):
    """An expression asks for more than it may do."""


class Work:
    """Counts the steps of all expressions of one file, and carries out their operations and calls.

    All methods raise RefusedExpressionError if the file takes too many steps, or a value becomes too large.
    """

    def __init__(self, bounds: float = 1.0) -> None:
        self.most = self.left = int(bounds * MOST_STEPS)

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise RefusedExpressionError(f"the file takes more than {self.most:,} steps to evaluate")

    def checked(self, value: Any) -> Any:
        """Returns a value after a check of its size, which counts as steps."""
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise RefusedExpressionError(f"an integer has more than {MOST_BITS} bits")
        self.spend(self._size(value))
        return value

    def each(self, values: Iterable[Any]) -> Iterator[Any]:
        """The items of a loop; each counts as a step. An expression never sees this iterator itself."""
        for value in values:
            self.spend(1)
            yield value

    def binary(self, operation: str, left: Any, right: Any) -> Any:
        """The result of a binary operation, given by the name of its syntax node."""
        self.spend(self._size(left) + self._size(right))
        whole = isinstance(right, int)
        if whole and isinstance(left, int):
            bits = {"Pow": left.bit_length() * abs(right), "LShift": left.bit_length() + right}
            if bits.get(operation, 0) > MOST_BITS:
                raise RefusedExpressionError(f"an integer has more than {MOST_BITS} bits")
        elif operation == "Mult":
            items, times = (left, right) if whole else (right, left)
            if isinstance(times, int) and not isinstance(items, float | complex):
                self._check_product([self._size(items), max(times, 0)], LARGEST)
        elif operation == "Mod" and isinstance(left, str | bytes):
            text = left if isinstance(left, str) else left.decode("latin-1")
            for width in _CONVERSION.findall(text):
                self._check_width(width)
        return self.checked(_OPERATIONS[operation](left, right))

    def formatted(self, value: Any, conversion: int, form: str) -> str:
        """The text of a field of an f-string."""
        self._check_width(form)
        self.spend(self._size(value))
        if conversion in _CONVERSIONS:
            value = _CONVERSIONS[conversion](value)
        return format(value, form)

    def call(self, function: Any, /, *args: Any, **named: Any) -> Any:
        """The result of a call; an iterator is turned into a list, so that its size can be checked."""
        if function is vars or (function is type and len(args) > 1):
            raise RefusedExpressionError(f"{function.__name__} is not allowed in an expression")
        if function is map and len(args) > 1:
            items = zip(*map(self.each, args[1:]), strict=False)
            return self.checked([self.call(args[0], *item) for item in items])
        if function is filter and len(args) == 2:
            test = bool if args[0] is None else args[0]
            return self.checked([item for item in self.each(args[1]) if self.call(test, item)])
        self._check_call(function, [*args, *named.values()])
        if callable(key := named.get("key")):
            named["key"] = lambda item: self.call(key, item)
        result = function(*args, **named)
        return self.checked(list(islice(result, LARGEST + 1)) if hasattr(result, "__next__") else result)

    def _check_call(self, function: Any, given: list[Any]) -> None:
        """Raises RefusedExpressionError for a call that may take too much memory, before it runs."""
        owner = getattr(function, "__self__", None)
        bound = isinstance(function, BuiltinFunctionType) and not isinstance(owner, ModuleType | None)
        if function in _COUNTING and any(x > WIDEST for x in given if isinstance(x, int)):
            raise RefusedExpressionError(f"{function.__name__} of more than {WIDEST}")
        values = [owner, *given] if bound else given
        sizes = [self._size(value) for value in values]
        if bound or isinstance(function, MethodDescriptorType | ClassMethodDescriptorType):
            sizes += [abs(value) for value in given if isinstance(value, int)]
            if getattr(function, "__name__", "") in ("format", "format_map"):
                self._check_fields(values[0])
        if function in _MULTIPLYING and sum(sizes) > WIDEST:
            raise RefusedExpressionError(f"{function.__name__} of more than {WIDEST} numbers")
        if function is sum and any(not isinstance(x, int | float | complex) for x in given[1:]):
            raise RefusedExpressionError("sum of values that are not numbers")
        self.spend(sum(sizes[: len(values)]) + self._check_product(sizes, MOST_AT_ONCE) // 64)

    def _check_product(self, sizes: list[int], most: int) -> int:
        product = math.prod(max(size, 1) for size in sizes)
        if product > most:
            raise RefusedExpressionError("a value becomes too large")
        return product

    def _check_fields(self, text: str) -> None:
        """Checks the text of `str.format`: "{0.__class__}" would reach attributes that expressions cannot."""
        for _, name, form, _ in Formatter().parse(text):
            if "." in (name or "") or "[" in (name or "") or "{" in (form or ""):
                raise RefusedExpressionError("a format asks for attributes, items or formats of values")
            self._check_width(form or "")

    def _check_width(self, form: str) -> None:
        """Checks the width and precision of a format."""
        if "*" in form:
            raise RefusedExpressionError("a format takes its width from elsewhere; write it as a number")
        if any(len(digits) > len(str(WIDEST)) or int(digits) > WIDEST for digits in re.findall(r"\d+", form)):
            raise RefusedExpressionError(f"a format asks for more than {WIDEST} letters")

    def _size(self, value: Any) -> int:
        """The size of a value in units of about 8 bytes. Items that occur twice count twice, as in print."""
        size, stack = 0, [value]
        while stack:
            part = stack.pop()
            size += 1
            if isinstance(part, str | bytes | bytearray):
                size += len(part) // 8
            elif isinstance(part, int):
                size += part.bit_length() // 64
            elif isinstance(part, range):
                size += (
                    LARGEST + 1 if part and abs(part[-1] - part[0]) > LARGEST * abs(part.step) else len(part)
                )
            elif isinstance(part, _CONTAINERS) and size + len(part) <= LARGEST:
                stack.extend(part)
                stack.extend(part.values() if isinstance(part, dict) else ())
            elif hasattr(part, "__len__"):
                size += len(part)
            if size > LARGEST:
                raise RefusedExpressionError("a value becomes too large")
        return size
