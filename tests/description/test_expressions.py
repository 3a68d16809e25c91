"""Expressions of xacro have the values of Python; those that need too much time or memory are refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rbdgen.description import work
from rbdgen.description.expressions import evaluate
from rbdgen.description.work import RefusedExpressionError, Work

xacro = pytest.importorskip("xacro")


def symbols() -> dict[str, Any]:
    """The symbols that every xacro has."""
    return dict(xacro.create_global_symbols())


VALUES = {
    "2**10 - 2**-1 + (7 // 2) % 2 + +1.5": 1026.0,
    "(1 << 4 | 3) ^ 1 & ~2 >> 1": 18 ^ (1 & ~2 >> 1) ^ 1,
    '"ab" * 2 + "%s-%04d_20240" % (\'x\', 7)': "ababx-0007_20240",
    "f\"{1 / 3:.3f}|{[1, 2]!r:>8}|{'a'}|{math.pi:{3}.{2}}\"": "0.333|  [1, 2]|a|3.1",
    "'{:>5}|{k:.1f}|{{'.format('a', k=2.25)": "    a|2.2|{",
    "','.join(map(str, python.range(4)))": "0,1,2,3",
    "list(map(python.max, [1, 5], [3, 4])) + list(python.filter(None, [0, 1, 2]))": [3, 5, 1, 2],
    "max([3, -5, 4], key=python.abs)": -5,
    "[a + b for a, b in python.zip((1, 2), (3, 4)) if a < b <= 4 and a != 1][-1:]": [6],
    "sorted({'b': 1, 'a': 2}.keys())[0]": "a",
    "list(python.reversed(list(python.enumerate(['u', 'v']))))[0][1]": "v",
    "{k: v for k, v in {'a': 1, **{'b': 2}}.items()}['b']": 2,
    "{1, 2} | {x for x in [3]}": {1, 2, 3},
    "python.sum([0.5, 1]) if not 1 > 2 > 3 else 0": 1.5,
    "[*python.range(3), *[7]][3]": 7,
    "[[x, y] for x, [y, *z] in [(1, [2, 3])]][0][1]": 2,
    "math.comb(5, 2) + math.factorial(4) + math.prod([2, 3])": 40,
    "'a,b'.split(',')[1].upper().rjust(3) + 'link_123456789'.replace('1234', '')": "  Blink_56789",
    "1 in python.range(10**4) and 'x' not in {'y': 1}": True,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_are_those_of_python(text: str) -> None:
    assert evaluate(text, symbols()) == VALUES[text] == eval(text, {**symbols(), "math": math})


def test_names_of_a_comprehension_and_of_the_caller() -> None:
    assert evaluate("[x * k for x in (1, 2) for k in (3,)][1] + x", {"x": 10}) == 16


@pytest.mark.parametrize("text", ["__work", "__work.left", "python.list.__work", "[__work for x in 'a']"])
def test_what_counts_is_out_of_reach(text: str) -> None:
    with pytest.raises(RefusedExpressionError, match="the name '__work' is not allowed"):
        evaluate(text, symbols())


def test_python_itself_is_out_of_reach() -> None:
    """Attributes cannot be reached, not even by functions that take their names as strings."""
    for text in (
        "python.vars(python.type)['__base__']",
        "[f(math) for f in [python.vars]]",
        "python.sorted([math], key=python.vars)",
        "list(map(python.vars, [math]))",
        "python.type('T', (), {})",
        "python.type.mro(str)[-1].__subclasses__()",
        "'{0.__class__}'.format(1)",
        "str.format('{0.__class__}', 1)",
        "'{x[0]}'.format_map({'x': 'a'})",
    ):
        with pytest.raises(RefusedExpressionError, match=r"not allowed in an|a format asks for attributes"):
            evaluate(text, symbols())


BOMBS = (
    "9**9**9",
    "(-9)**(10**6)",
    "1 << 10**9",
    "[2**4000 * 2**4000 for k in [1]]",
    '"a" * 10**12',
    "[0] * 10**10",
    "10**10 * (0,)",
    '"a".ljust(10**10)',
    'str.ljust("a", 10**10)',
    '"%1000000000d" % 1',
    '"%*d" % (10**9, 1)',
    'f"{1:1000000000}"',
    'f"{1:{10**9}}"',
    '"{:1000000000}".format(1)',
    '"{:{}}".format(1, "1000000000")',
    '"{0.real}".format(1)',
    '"{0[0]}".format([1])',
    "python.range(10**12)",
    "list(range(10**9))",
    "dict.fromkeys(python.range(10**9))",
    "(1).to_bytes(10**10, 'big')",
    "math.factorial(10**6)",
    "list(map(math.factorial, [10**6]))",
    "python.sorted([10**6], key=math.factorial)",
    "math.prod([2**4000] * 1000)",
    "math.comb(10**6, 5 * 10**5)",
    '("a" * 10**5).replace("a", "b" * 10**5)',
    '("b" * 10**5).join("a" * 10**5)',
    '("\\t" * 10**5).expandtabs(10**5)',
    "python.sum([[0]] * 10**4, [])",
    "[1 for a in python.range(10**5) for b in python.range(10**5)]",
    "[python.sum(python.range(10**4)) for a in python.range(10**5)]",
    "[x for l in [[0]] for k in python.range(99) for x in [l.extend(l)]]",
    "[l for l in [[0]] for k in python.range(99) if l.append(l) or str(l)]",
    "[[[[[0] * 99] * 99] * 99] * 99] * 99",
    "str([list(python.range(999))] * 999)",
    "[x < x for x in [list(python.range(10**4))] for k in python.range(10**5)]",
    "[x[:] for x in [list(python.range(10**4))] for k in python.range(10**5)]",
    "1 " + "+ 1" * 10**4,
    "(" * 2000 + "1" + ")" * 2000,
    "-" * 9000 + "1",
)


@pytest.mark.parametrize("text", BOMBS, ids=range(len(BOMBS)))
def test_what_asks_for_too_much_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_STEPS", 1_000_000)
    with pytest.raises((RefusedExpressionError, RecursionError, MemoryError, SyntaxError)) as error:
        evaluate(text, symbols())
    deep = text.startswith(("-", "("))
    assert isinstance(error.value, RefusedExpressionError) or deep


def test_expressions_of_a_file_share_their_steps() -> None:
    shared = Work()
    shared.left = 100
    with pytest.raises(RefusedExpressionError, match="the file takes more than"):
        [evaluate("1", {}, shared) for _ in range(100)]


def test_robots_of_many_parts_are_far_from_the_end() -> None:
    """Ten thousand expressions take a small part of the allowed steps."""
    shared = Work()
    for k in range(10_000):
        evaluate(
            "'link_%d' % (k + 1) if mass * length**2 / 12 > 0 else max(a)",
            {"k": k, "mass": 1.0, "length": 2.0, "a": [1.0] * 10},
            shared,
        )
    assert shared.left > 0.9 * work.MOST_STEPS
