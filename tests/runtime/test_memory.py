"""The memory of large results is reused when no result lies in it any more, never before; it is bounded."""

from __future__ import annotations

import ctypes
import itertools
import os
import pickle
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.results import Array, address, alive, bits, block_of, spoil
from support.toys import facts, toys

from rbdgen.emit.package import PRIVATE
from rbdgen.emit.render import render
from rbdgen.errors import ArrayValueError
from rbdgen.runtime import Library, open_library
from rbdgen.runtime.function import Function
from rbdgen.runtime.memory import CACHE_LINE, LARGE, MEMORY, MOST_BLOCKS, Memory
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain, build

STATES = 5000
"""A number of states for which every output of the toys is large."""


@pytest.fixture(autouse=True)
def _as_at_first() -> Iterator[None]:
    limit = MEMORY.limit
    MEMORY.release()
    yield
    MEMORY.set_limit(limit)
    MEMORY.release()


@pytest.fixture(scope="module")
def lib(build_cache: Cache) -> Library:
    toolchain = Toolchain(find_compiler(), ("-O1", "-ffp-contract=off"), 2)
    return open_library(build(render(facts(), toys()), toolchain, build_cache))


@pytest.fixture(scope="module")
def without_calls(lib: Library, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A library without the module of quick calls, as in a Python for which it was not compiled."""
    folder = tmp_path_factory.mktemp("toy")
    shutil.copytree(lib.folder, folder, dirs_exist_ok=True)
    for path in (folder / PRIVATE).glob("_calls*"):
        path.unlink()
    library = open_library(folder)
    assert library.torque._calls is None
    return library


@pytest.fixture(params=["quick", "careful", "without the module of quick calls"])
def torque(request: pytest.FixtureRequest, lib: Library, without_calls: Library) -> Callable[..., Array]:
    """The function, called in each of its ways."""
    if request.param == "careful":
        return lambda q, v, **how: lib.torque(q, v=v, **how)
    call: Function = lib.torque if request.param == "quick" else without_calls.torque
    return call


def inputs(seed: int, states: int = STATES) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    return random.uniform(-3, 3, (states, 2)), random.uniform(-3, 3, (states, 2))


def test_a_result_takes_the_memory_that_an_earlier_one_gave_back(torque: Callable[..., Array]) -> None:
    first = torque(*inputs(0))
    place, expected = address(first), first.copy()
    other = torque(*inputs(1))
    assert address(other) != place
    np.testing.assert_array_equal(first, expected)
    kept = MEMORY.kept
    del first
    assert address(torque(*inputs(0))) == place
    fewer = torque(*inputs(2, STATES - 100))
    assert address(fewer) == place
    assert MEMORY.kept == kept
    np.testing.assert_array_equal(other, torque(*inputs(1), out=np.empty_like(other)))


def test_much_smaller_results_leave_large_memory_alone(lib: Library) -> None:
    place = address(lib.torque(*inputs(0, 8 * STATES)))
    small, large = lib.torque(*inputs(0)), lib.torque(*inputs(0, 8 * STATES))
    assert address(large) == place
    assert not np.shares_memory(small, large)


def test_small_results_are_numpys_own(lib: Library) -> None:
    states = LARGE // 16
    assert lib.torque(*inputs(0, states - 1)).flags.owndata
    assert MEMORY.kept == 0
    lib.torque(*inputs(0, states))
    assert MEMORY.kept == LARGE + CACHE_LINE


HOLDERS: dict[str, Callable[[Array], Any]] = {
    "itself": lambda r: r,
    "slice": lambda r: r[10:20],
    "element": lambda r: r[-1:, 1],
    "transposed": lambda r: r.T,
    "flat view": lambda r: r.reshape(-1),
    "other dtype": lambda r: r.view(np.uint8),
    "subclass": lambda r: r.view(np.recarray),
    "broadcast": lambda r: np.broadcast_to(r[:1], (3, 2)),
    "strided": lambda r: np.lib.stride_tricks.as_strided(r, (4, 2)),
    "view of a view": lambda r: r[5:][5:].T[::-1],
    "base": lambda r: r.base,
    "base's base": lambda r: r[3:].base,
    "iterator": lambda r: r.flat,
    "memoryview": memoryview,
    "part of a memoryview": lambda r: memoryview(r)[7:9],
    "buffer": lambda r: np.frombuffer(memoryview(r).cast("B")),
    "ctypes": np.ctypeslib.as_ctypes,
    "pointer": lambda r: r.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
    "dlpack": np.from_dlpack,
    "pickled out of band": pickle.PickleBuffer,
    "array of objects": lambda r: np.array([r[0], None], object),
    "exception": ValueError,
    "closure": lambda r: lambda: r,
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_memory_that_anything_holds_is_left_alone(
    torque: Callable[..., Array], hold: Callable[[Array], Any]
) -> None:
    result = torque(*inputs(0))
    expected, place, nbytes = result.copy(), address(result), result.nbytes
    held = hold(result)
    del result
    later = [torque(*inputs(seed)) for seed in range(1, 4)]
    for seed in range(4, 7):
        torque(*inputs(seed))
    assert not any(place - nbytes < address(array) < place + nbytes for array in later)
    there = (ctypes.c_char * nbytes).from_address(place)
    assert bytes(there) == expected.tobytes()
    del held, later


def test_outputs_of_one_call_have_memory_of_their_own(lib: Library) -> None:
    q, _ = inputs(0)
    M = lib.inertia(q).M  # the memory of g is free again
    again = lib.inertia(q)
    assert not np.shares_memory(M, again.M)
    assert not np.shares_memory(M, again.g)
    assert not np.shares_memory(again.M, again.g)
    step = lib.inertia.bind(q)
    step()
    for _ in range(3):
        assert not any(np.shares_memory(x, y) for x, y in itertools.product(step.out, lib.inertia(q)))


@pytest.mark.parametrize("states", [STATES, STATES + 1, 4 * STATES + 3])
def test_large_results_begin_with_a_cache_line(torque: Callable[..., Array], states: int) -> None:
    held = [torque(*inputs(0, states)) for _ in range(5)]
    assert {address(array) % CACHE_LINE for array in held} == {0}


def test_what_numpy_says_of_a_large_result(torque: Callable[..., Array]) -> None:
    result = torque(*inputs(0))
    assert type(result) is np.ndarray
    assert result.flags.carray
    assert not result.flags.owndata
    assert result.copy().flags.owndata
    with pytest.raises(ValueError, match="does not own its data"):
        result.resize((1, 2))
    for protocol in (2, 5):
        copied = pickle.loads(pickle.dumps(result, protocol))
        assert bits(copied) == bits(result)
        assert not np.shares_memory(copied, result)


@pytest.mark.parametrize("given_back", [True, False])
def test_no_more_is_kept_than_the_limit(torque: Callable[..., Array], given_back: bool) -> None:
    limit = 20 * LARGE
    MEMORY.set_limit(limit)
    blocks, held = [], []
    for k in range(60):
        result = torque(*inputs(0, LARGE // 16 + 500 * k))
        blocks.append(block_of(result))
        if not given_back:
            held.append((result, result.copy()))
        del result
        assert 0 < MEMORY.kept <= limit
        assert held or alive(blocks) == MEMORY.kept
    assert all((result == copied).all() for result, copied in held)
    held.clear()
    assert 0 < alive(blocks) == MEMORY.kept <= limit


def test_a_result_above_the_limit_pushes_nothing_out(lib: Library) -> None:
    MEMORY.set_limit(10 * LARGE)
    place = address(lib.torque(*inputs(0)))
    kept = MEMORY.kept
    large = block_of(lib.torque(*inputs(0, LARGE)))
    assert large() is None
    assert MEMORY.kept == kept
    assert address(lib.torque(*inputs(0))) == place


def test_no_more_blocks_are_kept_than_are_quickly_looked_through() -> None:
    memory = Memory(1 << 30)
    held = [memory.block(LARGE)[0] for _ in range(3 * MOST_BLOCKS)]
    assert memory.kept == MOST_BLOCKS * (LARGE + CACHE_LINE)
    held.clear()
    assert memory.block(LARGE)[1] is False


def test_release(lib: Library) -> None:
    used, unused = lib.torque(*inputs(0)), lib.torque(*inputs(1))
    expected = used.copy()
    blocks = block_of(used), block_of(unused)
    del unused
    assert blocks[1]() is not None
    lib.release_memory()
    assert MEMORY.kept == 0
    assert blocks[1]() is None
    lib.torque(*inputs(2))
    np.testing.assert_array_equal(used, expected)
    del used
    assert blocks[0]() is None


def test_without_memory_all_results_are_fresh(torque: Callable[..., Array], lib: Library) -> None:
    torque(*inputs(0))
    assert MEMORY.kept > 0
    lib.limit_memory(0)
    assert MEMORY.kept == 0
    block = block_of(torque(*inputs(0)))
    assert block() is None
    assert MEMORY.kept == 0


@pytest.mark.parametrize("limit", [-1, 1e9, None, "1G"])
def test_limits_that_are_none(lib: Library, limit: Any) -> None:
    message = rf"^limit_memory: {limit!r} is no number of bytes; pass a whole one, 0 or more$"
    with pytest.raises(ArrayValueError, match=message):
        lib.limit_memory(limit)


def test_memory_is_given_back_in_any_thread(lib: Library) -> None:
    """Four threads call, hand some results to a neighbour, hold some, and look at all of them again."""
    states = [inputs(seed) for seed in range(8)]
    expected = [bits(lib.torque(*x, out=np.empty((STATES, 2)))) for x in states]
    queues: list[queue.Queue[tuple[int, Array]]] = [queue.Queue() for _ in range(4)]
    wrong: list[int] = []

    def work(number: int) -> None:
        held: list[tuple[int, Array]] = []
        for turn in range(200):
            k = (turn * 5 + number) % len(states)
            held.append((k, lib.torque(*states[k], threads=1 + turn % 2)))
            if turn % 3 == 0:
                queues[(number + 1) % 4].put(held.pop())
            if turn % 7 == 6:
                held += [queues[number].get_nowait()] if not queues[number].empty() else []
                wrong.extend(j for j, result in held if bits(result) != expected[j])
                del held[: len(held) // 2 + 1]
        wrong.extend(j for j, result in held if bits(result) != expected[j])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in queues:
        while not each.empty():
            k, result = each.get()
            assert bits(result) == expected[k]
    assert wrong == []


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # where JAX was imported before
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_has_memory_of_its_own(torque: Callable[..., Array]) -> None:
    held = torque(*inputs(0))
    expected = bits(held)
    place = address(torque(*inputs(1)))
    child = os.fork()
    if child == 0:
        again = torque(*inputs(2))
        right = address(again) == place and bits(held) == expected
        held.fill(0)
        again.fill(0)
        os._exit(0 if right else 1)
    later = torque(*inputs(1))
    known = bits(later)
    assert os.waitpid(child, 0)[1] == 0
    assert bits(held) == expected
    assert bits(later) == known


def in_another_python(program: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_memory_is_freed_when_python_ends(lib: Library) -> None:
    """All memory is freed, including that of results that are still in use."""
    program = f"""
import atexit, weakref
blocks = []

def end():
    global held
    print([block() is None for block in blocks])
    del held
    print([block() is None for block in blocks])

atexit.register(end)  # runs after those that are registered later
import numpy as np
from rbdgen.runtime import open_library
call = open_library({str(lib.folder)!r}).torque
q = np.zeros(({STATES}, 2))
held, unused = call(q, q), call(q, q)
blocks += [weakref.ref(held.base), weakref.ref(unused.base)]
del unused
print([block() is None for block in blocks])
"""
    assert in_another_python(program).splitlines() == ["[False, False]", "[False, True]", "[True, True]"]


def test_memory_that_is_kept_makes_no_call_fail() -> None:
    program = """
import resource
from pathlib import Path
from rbdgen.runtime.memory import Memory
memory = Memory(1 << 30)
memory.block(400 << 20)
pages = int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (300 << 20),) * 2)
print(memory.block(600 << 20)[1], memory.kept >> 20)
try:
    memory.block(900 << 20)
except MemoryError:
    print("too large")
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads the size of the process from /proc")
    assert in_another_python(program).splitlines() == ["True 600", "too large"]


def test_searches_at_the_same_time_find_different_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may search after this one has counted and before it chooses."""
    memory = Memory(1 << 30)
    memory.block(LARGE)
    others: list[Array] = []

    def meanwhile(*columns: Any, strict: bool) -> Any:
        monkeypatch.undo()
        others.append(memory.block(LARGE)[0])
        return zip(*columns, strict=strict)

    monkeypatch.setattr("rbdgen.runtime.memory.zip", meanwhile, raising=False)
    block, fresh = memory.block(LARGE)
    assert not fresh
    assert block is not others[0]


def test_what_interrupts_the_search_reaches_the_user(lib: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    lib.inertia(inputs(0)[0])
    monkeypatch.setattr("rbdgen.runtime.memory._references", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lib.inertia(inputs(0)[0])


@pytest.mark.parametrize("threads", [1, 2])
def test_results_past_the_caches_leave_no_trace(torque: Callable[..., Array], threads: int) -> None:
    states = (17 << 20) // 16 + 1
    q, v = inputs(0, states)
    expected = bits(torque(q, v, out=np.zeros((states, 2))))
    first = torque(q, v, threads=threads)
    assert bits(first) == expected
    place = address(first)
    spoil(first)
    del first
    again = torque(q, v, threads=threads)
    assert address(again) == place
    assert bits(again) == expected
