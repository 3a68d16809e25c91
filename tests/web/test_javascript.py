"""What JavaScript writes otherwise than C."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.toys import Q, facts, function
from support.web import (
    NODE,
    WEBASSEMBLY,
    by_gcc,
    by_node,
    different,
    manifest_of,
    module_options,
    modules_of,
    need,
    states_of,
    written_module,
)

from rbdgen.emit.c.expression import ATOM, Expression
from rbdgen.emit.javascript.functions import _LONGEST_TEXT
from rbdgen.emit.javascript.language import JavaScript
from rbdgen.emit.package import FunctionSource
from rbdgen.graph.builder import Builder
from rbdgen.signature import SizedArgument
from rbdgen.toolchain.cache import Cache

V8_LIMIT = 60 * 1024
"""The bytes of bytecode up to which V8 optimises a function."""


def many(count: int, zeros: int) -> FunctionSource:
    """A function whose results are `count` products, between zeros."""
    builder = Builder()
    x, y = builder.input("q", 2)
    found = [(x + k) * y for k in range(1, count + 1)]
    half = count // 2
    results = [*[0.0] * zeros, *found[:half], *[0.0] * zeros, *found[half:]]
    graph = builder.graph([("y", (len(results),), results)])
    return function("many", graph, (Q,), (SizedArgument("y", (len(results),), "1", "anything"),))


def test_zeros_are_written_at_once(tmp_path: Path, build_cache: Cache) -> None:
    need(*WEBASSEMBLY, NODE)
    folder = written_module(tmp_path, facts(), [many(3, 40)], module_options(), build_cache)
    module = modules_of(folder)["javascript"]
    assert re.findall(r"y\.fill\(.*\);", module.read_text()) == [
        "y.fill(0.0, 0, 0 + 40);",
        "y.fill(0.0, 41, 41 + 40);",
    ]
    states = states_of(manifest_of(folder), 3)
    assert different(by_gcc(folder, states), by_node(module, folder, states, tmp_path)) == {}


def test_engines_optimise_every_function(tmp_path: Path, build_cache: Cache) -> None:
    """A function with many results has parts that are short enough."""
    need(*WEBASSEMBLY, NODE)
    folder = written_module(tmp_path, facts(), [many(4000, 0)], module_options(), build_cache)
    module = modules_of(folder)["javascript"]
    program = tmp_path / "call.mjs"
    program.write_text(f'import {{ load }} from "{module}";\n(await load()).many({{ q: [1, 2] }});\n')
    command = ["node", "--print-bytecode", "--print-bytecode-filter=*", program]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(
        r"bytecode for function: (toy_many\w*).*\n(?:Bytecode length|Bytecode Length): (\d+)", told
    )
    assert len(found) > 3
    assert all(int(length) < V8_LIMIT for _, length in found)
    assert max(int(length) for _, length in found) > 10_000
    assert _LONGEST_TEXT < V8_LIMIT
    states = states_of(manifest_of(folder), 3)
    assert different(by_gcc(folder, states), by_node(module, folder, states, tmp_path)) == {}


@pytest.mark.parametrize(
    ("op", "said"),
    [
        ("max", "(a + b) > 2.0 || (a + b) !== (a + b) ? (a + b) : 2.0"),
        ("select", "a + b < 2.0 ? (c ? d : e) : 1.0"),
    ],
)
def test_choices(op: str, said: str) -> None:
    total, choice = Expression("a + b", 1, 1), Expression("c ? d : e", 0, 1)
    two, one = Expression("2.0", ATOM, 0), Expression("1.0", ATOM, 0)
    operands = [Expression("(a + b)", ATOM, 1), two] if op == "max" else [total, two, choice, one]
    first, expression = JavaScript().choice(op, "pair1", "double", operands)
    assert (first, expression.text, expression.depth) == ([], said, 2)
    assert expression.precedence == 0


def test_pointers_are_arrays_with_an_index() -> None:
    language = JavaScript()
    assert language.parameter("double", "", "q", written=False, moved=True) == "q, q$"
    assert language.parameter("double", "", "q", written=True) == "q"
    assert language.element("q", 3, moved=True) == "q[q$ + 3]"
    assert language.element("q", 0, moved=True) == "q[q$]"
    assert language.element("let", 3) == "$let[3]"
    assert language.passed("q", "3 + 4 * k", moved=True) == "q, 3 + 4 * k"
    assert language.passed("q", moved=True) == "q, 0"
    assert language.passed("q") == "q"
    assert language.zeros("q[q$ + 3]", "q", 8) == "q.fill(0.0, q$ + 3, q$ + 3 + 8);"
