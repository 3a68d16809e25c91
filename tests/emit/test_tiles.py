"""Tiles: each element of a result is stored when it is computed, is not overwritten, and leaves once."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.few import few
from support.graphs import ALL, CONSTANTS, graphs
from support.toys import facts, function

from rbdgen.emit.batch.tiles import Tile, print_tiles, tiled, tiles_of
from rbdgen.emit.c.parts import Body, CArrayOfNumbers, cut_up
from rbdgen.emit.c.printer import Element, Sincos, Style, scalar_style
from rbdgen.emit.package import EmitOptions, FunctionSource
from rbdgen.emit.real import REALS
from rbdgen.emit.render import render
from rbdgen.errors import EmitError
from rbdgen.graph.node import Graph, Input, Node, Output
from rbdgen.graph.ops import ARITY
from rbdgen.machine import lanes
from rbdgen.runtime.arrays import aligned
from rbdgen.signature import SizedArgument

SIZES = (1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 324)
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror")
LEVELS = {"avx512f": "-march=native", "avx2": "-mavx2", "sse2": "-msse2"}
GUARD = 7.0


def style(trig: str) -> Style:
    return scalar_style(REALS["double"], Sincos("toy", None) if trig == "builtin" else None)


def outputs(random: Random, nodes: Sequence[Node], sizes: Sequence[int]) -> tuple[Output, ...]:
    """Draws outputs made of runs of one node, of zeros, of any nodes, or of consecutive nodes."""
    zero, minus_zero = (next(k for k, x in enumerate(nodes) if repr(x.value) == z) for z in ("0.0", "-0.0"))
    found = []
    for number, size in enumerate(sizes):
        elements: list[int] = []
        while len(elements) < size:
            length = random.randint(1, 20)
            first = random.randrange(len(nodes))
            elements += random.choice(
                [
                    [zero] * length,
                    [minus_zero] * length,
                    [first] * length,
                    [random.randrange(len(nodes)) for _ in range(length)],
                    list(range(first, min(first + length, len(nodes)))),
                ]
            )
        found.append(Output(f"result{number}", (size,), tuple(elements[:size])))
    return tuple(found)


def with_outputs(graph: Graph, seed: int, sizes: Sequence[int]) -> Graph:
    """Replaces the outputs of the graph by outputs of any nodes, of these sizes."""
    nodes = (*graph.nodes, Node("const", (), 0.0), Node("const", (), -0.0))
    return Graph(graph.inputs, nodes, outputs(Random(seed), nodes, sizes), graph.labels)


def plainly_zero(graph: Graph, tile: Tile) -> bool:
    nodes = [graph.nodes[k] for k in tile.elements]
    return all(node.op == "const" and node.value == 0.0 and not np.signbit(node.value) for node in nodes)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    graph=graphs(ops=ALL),
    seed=st.integers(0, 10_000),
    sizes=st.lists(st.sampled_from(SIZES), min_size=1, max_size=4),
    width=st.sampled_from([8, 16]),
)
def test_tiles_cover_every_output_of_at_least_their_length(
    graph: Graph, seed: int, sizes: list[int], width: int
) -> None:
    graph = with_outputs(graph, seed, sizes)
    tiles = list(tiles_of(graph, width))
    for output in graph.outputs:
        own = [tile for tile in tiles if tile.array == output.name]
        size = len(output.elements)
        assert len(own) == (-(-size // width) if size >= width else 0)
        assert sorted({k for tile in own for k in range(tile.first, tile.first + width)}) == list(
            range(size if own else 0)
        )
        assert all(one.first < other.first for one, other in pairwise(own))
        assert all(tile.first % width == 0 for tile in own[:-1])
        for tile in own:
            assert tile.elements == output.elements[tile.first : tile.first + width]


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    graph=graphs(ops=ALL),
    seed=st.integers(0, 10_000),
    sizes=st.lists(st.sampled_from(SIZES), min_size=1, max_size=4),
    width=st.sampled_from([8, 16]),
    longest=st.integers(1, 12),
    trig=st.sampled_from(["libm", "builtin"]),
)
def test_elements_wait_undisturbed_and_leave_once(
    graph: Graph, seed: int, sizes: list[int], width: int, longest: int, trig: str
) -> None:
    graph = with_outputs(graph, seed, sizes)
    try:
        cut = cut_up(graph, style(trig), longest)
    except EmitError:
        return  # a sine of a sine
    tiles = list(tiles_of(graph, width))
    tiling = tiled(graph, cut.segments, tiles)
    assert len(tiling.stores) == len(tiling.leaving) == len(cut.segments)
    gone = [tile for leaving in tiling.leaving for tile, _ in leaving]
    assert Counter([*gone, *tiling.zeros]) == Counter(tiles)
    assert set(tiling.zeros) == {tile for tile in tiles if plainly_zero(graph, tile)}

    scratch_array: dict[Element, int] = {}
    results = {
        Element(tile.array, tile.first + k): z for tile in tiling.zeros for k, z in enumerate(tile.elements)
    }
    for nodes, stores, leaving in zip(cut.segments, tiling.stores, tiling.leaving, strict=True):
        here: set[Element] = set()  # no element is overwritten, whatever the order of stores
        for node, places in stores.items():
            assert node in nodes or not graph.nodes[node].args
            for place in places:
                assert place not in here
                here.add(place)
                assert place not in scratch_array
                scratch_array[place] = node
        for tile, place in leaving:
            assert 0 <= place < tiling.size
            for k, node in enumerate(tile.elements):
                assert scratch_array.pop(Element("tile", place * width + k)) == node
                assert results.setdefault(Element(tile.array, tile.first + k), node) == node
    results |= scratch_array
    assert results == {Element(x.name, k): node for x in graph.outputs for k, node in enumerate(x.elements)}


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    graph=graphs(ops=ALL),
    seed=st.integers(0, 10_000),
    sizes=st.lists(st.sampled_from(SIZES), min_size=1, max_size=4),
    longest=st.integers(1, 12),
)
def test_places_are_taken_again(graph: Graph, seed: int, sizes: list[int], longest: int) -> None:
    """There are as many places as tiles that wait at the same time, which is the least possible number."""
    graph = with_outputs(graph, seed, sizes)
    cut = cut_up(graph, style("libm"), longest)
    tiling = tiled(graph, cut.segments, list(tiles_of(graph, 8)))
    waiting: Counter[int] = Counter()
    for last, leaving in enumerate(tiling.leaving):
        for tile, _ in leaving:
            times = [
                number
                for number, nodes in enumerate(cut.segments)
                if any(graph.nodes[k].args and k in nodes for k in tile.elements)
            ]
            assert max(times, default=0) == last
            waiting.update(range(min(times, default=0), last + 1))
    assert tiling.size == max(waiting.values(), default=0)


def test_what_is_printed() -> None:
    """The ten elements of y are zeros, an input and a product; they fill a tile of zeros and one over it."""
    nodes = (Node("input"), Node("input", value=1.0), Node("const", value=0.0), Node("mul", (0, 1)))
    y = Output("y", (10,), (2,) * 8 + (0, 3))
    graph = Graph((Input("x", 2),), nodes, (y, Output("z", (2,), (3, 2))))
    assert print_tiles(graph, style("libm"), "toy_f", 8) == Body(
        (),
        (
            "double tile[8];",
            "double_clear(y, 10, toy_f_y_zeros, 1, states, stream);",
            "z[1] = 0.0;",
            *(f"tile[{k}] = 0.0;" for k in range(6)),
            "tile[6] = x[0];",
            "const double t3 = x[0] * x[1];",
            "tile[7] = t3;",
            "z[0] = t3;",
            "double_leave(y, 10, tile, toy_f_y_after1, 1, states, stream);",
        ),
        tiled=("y",),
        tables=(
            CArrayOfNumbers("toy_f_y_zeros", "int", 1, ("0",)),
            CArrayOfNumbers("toy_f_y_after1", "int", 2, ("2, 0",)),
        ),
    )


def random_graph(seed: int, sizes: Sequence[int]) -> Graph:
    """Sixty operations on five numbers, finite and none a sine of a sine, and outputs of these sizes."""
    random = Random(seed)
    nodes = [Node("input", value=float(k)) for k in range(5)]
    nodes += [Node("const", value=value) for value in (*CONSTANTS, -0.0)]
    plain = [True] * len(nodes)
    while len(nodes) < 60:
        a, b = (random.randrange(max(0, len(nodes) - 25), len(nodes)) for _ in range(2))
        allowed = {
            "sin": plain[a],
            "cos": plain[a],
            "sqrt": nodes[a].op == "sq",
            "div": nodes[b].op == "const" and nodes[b].value != 0.0,
            "mul": nodes[b].op in ("sin", "cos", "const"),
            "sq": nodes[a].op in ("sin", "cos", "input", "neg"),
        }
        op = random.choice([op for op in ALL if allowed.get(op, True)])
        args = (a, b, b, a)[: ARITY[op]]
        nodes.append(Node(op, args))
        plain.append(op not in ("sin", "cos") and all(plain[k] for k in args))
    return Graph((Input("x", 3), Input("u", 2)), tuple(nodes), outputs(random, nodes, sizes))


GROUPS = ((1, 7), (8,), (9, 15, 2), (16, 17), (32, 64, 16), (324, 3), (33,), (128,))
"""The sizes of the outputs of each function; the states of some fill whole cache lines."""


def sources() -> list[FunctionSource]:
    found = []
    for number, sizes in enumerate(GROUPS):
        graph = random_graph(number, sizes)
        arguments = [
            SizedArgument(x.name, (x.size,), "", "anything") for x in (*graph.inputs, *graph.outputs)
        ]
        found.append(function(f"f{number}", graph, tuple(arguments[:2]), tuple(arguments[2:])))
    return found


class Compiled:
    """Functions and their batch functions, compiled into a separate shared object."""

    def __init__(self, folder: Path, options: EmitOptions, *command: str) -> None:
        self.dtype = np.dtype(np.float32 if options.real == "float" else np.float64)
        files = render(facts(), sources(), options).files
        names = [name for name in files if name.startswith("toy") and name.endswith((".c", ".h"))]
        for name in names:
            (folder / name).write_text(files[name])
        texts = [name for name in names if name.endswith(".c")]
        whole = folder / "whole.c"
        whole.write_text("".join(f'#include "{name}"\n' for name in texts))
        flags = ("-O1", "-ffp-contract=off", "-shared", "-fPIC", *STRICT)
        subprocess.run([*command, *flags, "whole.c", "-o", "whole.so", "-lm"], cwd=folder, check=True)
        self._library = ctypes.CDLL(str(folder / "whole.so"))

    def single(self, name: str, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        getattr(self._library, f"toy_{name}")(*map(_pointer, (*inputs, *results)))

    def batch(
        self, name: str, count: int, inputs: Sequence[Any], results: Sequence[Any], stream: int
    ) -> None:
        states = [value for x in inputs for value in (_pointer(x), ctypes.c_size_t(prod(x.shape[1:])))]
        batch_function = getattr(self._library, f"toy_{name}_batch")
        batch_function(ctypes.c_size_t(count), *states, *map(_pointer, results), ctypes.c_int(stream))


def _pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


TWINS = [
    (compiler, *kind, real)
    for compiler in ("gcc", "clang")
    if shutil.which(compiler)
    for kind in (*((level, "builtin") for level in LEVELS), ("avx2", "libm"))
    for real in ("double", "float")
]
"""`make test` runs each level with one of both types."""


@pytest.mark.parametrize(("compiler", "level", "trig", "real"), few([*TWINS[::4], *TWINS[3::4]], TWINS))
def test_twins_give_the_bits_of_single_calls(
    compiler: str, level: str, trig: Any, real: Any, tmp_path: Path
) -> None:
    processor = Path("/proc/cpuinfo")
    if not processor.exists() or level not in processor.read_text().split():
        pytest.skip(f"this processor has no {level}")
    compiled = Compiled(tmp_path, EmitOptions(real=real, trig=trig), compiler, LEVELS[level])
    random = np.random.default_rng(5)
    most = 2 * lanes(real) + 1
    for source in sources():
        inputs = [
            random.uniform(-3, 3, (most, x.size)).astype(compiled.dtype) for x in source.signature.inputs
        ]
        shapes = [(most, x.size) for x in source.signature.outputs]
        expected = [np.empty(shape, compiled.dtype) for shape in shapes]
        for k in range(most):
            compiled.single(source.name, [x[k] for x in inputs], [y[k] for y in expected])
        for count, stream, odd in itertools.product(range(most + 1), (0, 1), (0, 1)):
            blocks = [aligned((prod(shape) + odd,), compiled.dtype)[0] for shape in shapes]
            for block in blocks:
                block.fill(GUARD)
            results = [block[odd:].reshape(shape) for block, shape in zip(blocks, shapes, strict=True)]
            compiled.batch(source.name, count, inputs, results, stream)
            for block, result, single in zip(blocks, results, expected, strict=True):
                assert result[:count].tobytes() == single[:count].tobytes(), (source.name, count, stream, odd)
                assert (block[:odd] == GUARD).all()
                assert (result[count:] == GUARD).all()
