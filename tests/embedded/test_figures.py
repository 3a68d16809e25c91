"""Figures of objects whose cost is known from their source, and the handling of faulty tools."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from embedded.board import checked

from rbdgen.errors import BuildError
from rbdgen.figures.code import Figures, figures
from rbdgen.figures.guarantees import violations
from rbdgen.figures.instructions import INDIRECT
from rbdgen.toolchain.targets import TARGETS

BOARDS = tuple(
    name for name, row in TARGETS.items() if row.embedded and shutil.which(f"{row.prefix}gcc") is not None
)


def measured(text: str, folder: Path, board: str = "cortex-m4f", *flags: str) -> Figures:
    """The figures of C, which is compiled for a board."""
    source, target_file, target = folder / "code.c", folder / "code.o", TARGETS[board]
    source.write_text(text)
    checked([f"{target.prefix}gcc", *target.flags, *flags, "-fstack-usage", "-c", source, "-o", target_file])
    return figures(target_file, target.prefix)


CALLS = """
static const float table[4] = {1.0f, 2.0f, 3.0f, 5.0f};
#define APART float __attribute__((noinline))
APART inner(unsigned i) { volatile float kept[10]; kept[0] = table[i & 3]; return kept[0]; }
APART middle(unsigned i) { volatile float kept[20]; kept[0] = inner(i); return kept[0] + inner(i + 1); }
float outer(unsigned i) { return -middle(i); }
"""


@pytest.mark.parametrize("board", BOARDS)
def test_callees_count(board: str, tmp_path: Path) -> None:
    code = measured(CALLS, tmp_path, board)
    inner, middle, outer = (code.functions[name] for name in ("inner", "middle", "outer"))
    assert middle.calls == ("inner", "inner")
    assert inner.frame is not None
    assert inner.frame >= 40
    assert code.stack("outer") == sum(f.frame or 0 for f in (inner, middle, outer))
    assert code.instructions("outer") == outer.instructions + middle.instructions + 2 * inner.instructions
    assert list(inner.constants.values()) == [16]
    assert not outer.constants
    assert code.flash("outer") == inner.text + middle.text + outer.text + 16
    assert code.outside("outer") == frozenset()
    assert code.data == code.bss == 0


def assembled(lines: tuple[str, ...], folder: Path, names: tuple[str, ...] = ("f",)) -> Figures:
    """The figures of a function `f` with these instructions of the M4F, among which others may begin."""
    last = names[-1]
    text = r"\n".join(
        (".syntax unified", ".thumb", ".type f, %function", "f:", *lines, f".size {last}, .-{last}")
    )
    (folder / "code.su").write_text("".join(f"code.c:1:1:{name}\t0\tstatic\n" for name in names))
    (folder / "code.c").write_text(f'__asm__("{text}");')
    flags = TARGETS["cortex-m4f"].flags
    checked(["arm-none-eabi-gcc", *flags, "-c", folder / "code.c", "-o", folder / "code.o"])
    return figures(folder / "code.o", "arm-none-eabi-")


def test_literal_words_and_padding_do_not_count(tmp_path: Path) -> None:
    lines = ("ldr r0, 1f", "b 2f", "nop", ".balign 4", "1: .word 305419897", "2: adds r0, #1", "bx lr")
    code = assembled(lines, tmp_path)
    assert code.functions["f"].instructions == code.instructions("f") == 4


LOOP = ("movs r1, #0", "b 2f", "1: adds r0, #1", "2: adds r1, #1", "cmp r1, #5", "bne 1b", "bx lr")
"""A loop that is entered after its head. It executes 2 instructions before, 3 in the first run, 4 in each of
four more runs, and the return."""


def test_loops_are_counted(tmp_path: Path) -> None:
    code = assembled(LOOP, tmp_path)
    assert code.instructions("f", [5]) == 2 + 3 + 4 * 4 + 1
    assert violations(code, loops={"f": 1}) == ()
    for known in ([], [5, 5]):
        with pytest.raises(BuildError, match="f: it branches, so the number of instructions is not fixed"):
            code.instructions("f", known)
        assert violations(code, loops={"f": len(known)})[0].startswith("f: 1 conditional branches")


NESTED = (
    *("movs r1, #0", "b 2f"),
    *("1: adds r0, #1", "adds r2, #1", "cmp r2, #3", "bne 1b"),
    *("adds r1, #1", "cmp r1, #5", "beq 3f", "2: movs r2, #0", "b 1b", "3: bx lr"),
)
"""A loop of three runs in one of five, which is entered at its end, where the inner loop begins anew."""


def test_nested_loops_are_counted(tmp_path: Path) -> None:
    code = assembled(NESTED, tmp_path)
    assert code.functions["f"].loops == 2
    assert code.instructions("f", [15, 5]) == 2 + 15 * 4 + 5 * 3 + 5 * 2 + 1
    assert violations(code, loops={"f": 2}) == ()
    assert violations(code)[0] == "f: 2 conditional branches"


def test_calls_in_loops_are_counted(tmp_path: Path) -> None:
    """A call that the first run of a loop passes over counts once less than others."""
    inner = ("adds r0, #1", "bx lr", ".size f, .-f", ".type g, %function", "g:")
    after = ("b 3f", "1: bl f", "3: bl f", "adds r1, #1", "cmp r1, #5", "bne 1b", "bx lr")
    code = assembled((*inner, *after), tmp_path, ("f", "g"))
    assert code.instructions("g", [5]) == 1 + 4 + 5 * 4 + 1 + 9 * 2


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((*LOOP[:5], "beq 3f", "bne 1b", "3: bx lr"), "f: 2 conditional branches for 1 loops"),
        (
            ("1: movs r1, #0", "2: adds r1, #1", "cmp r1, #5", "bne 2b", "bne 1b"),
            "f: 2 backward branches for 1",
        ),
    ],
    ids=["way out", "two loops"],
)
def test_what_cannot_be_counted(lines: tuple[str, ...], said: str, tmp_path: Path) -> None:
    code = assembled(lines, tmp_path)
    assert any(line.startswith(said) for line in violations(code, loops={"f": 1}))
    with pytest.raises(BuildError, match="f: it branches"):
        code.instructions("f", [5])


@pytest.mark.parametrize("board", BOARDS)
def test_branches(board: str, tmp_path: Path) -> None:
    text = """
    void straight(const float *x, float *y) { y[0] = x[0] * x[1] + 2.5f; }
    void forward(const float *x, float *y) { if (x[0] > 0.0f) { y[0] = x[1] / x[0]; y[1] = x[2] / x[1]; } }
    void loop(const float *x, float *y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] / 3.0f; }
    int choice(int i)
    {
        switch (i) {
        case 0: return 7; case 1: return 9; case 2: return 1; case 3: return 20; case 4: return 5;
        default: return 3;
        }
    }
    """
    code = measured(text, tmp_path, board, "-fno-tree-switch-conversion")
    branches = {n: (f.conditional_branches > 0, f.backward_branches > 0) for n, f in code.functions.items()}
    assert branches == {
        "straight": (False, False),
        "forward": (True, False),
        "loop": (True, True),
        "choice": (True, False),
    }
    assert code.instructions("straight") == code.functions["straight"].instructions
    with pytest.raises(BuildError, match="loop: it branches, so the number of instructions is not fixed"):
        code.instructions("loop")


def test_tail_call_is_a_call(tmp_path: Path) -> None:
    code = measured("float sinf(float); float f(float x) { return sinf(x + 1.0f); }", tmp_path)
    assert code.functions["f"].calls == ("sinf",)
    assert code.outside("f") == code.undefined == {"sinf"}


def test_computed_address(tmp_path: Path) -> None:
    text = """
    typedef float fn(float);
    float f(fn *g, float x) { return g(x) + 1.0f; }
    float h(fn *g, float x) { return g(x); }
    """
    code = measured(text, tmp_path)
    assert code.functions["f"].calls == code.functions["h"].calls == (INDIRECT,)


def test_writable_globals(tmp_path: Path) -> None:
    code = measured(
        "float kept[3]; static int n = 5; int f(void) { return n++; } float *g(void) { return kept; }",
        tmp_path,
    )
    assert (code.data, code.bss) == (4, 12)
    assert measured("float kept[3];", tmp_path, "cortex-m4f", "-fcommon").bss == 12


def test_unbounded_stack_is_refused(tmp_path: Path) -> None:
    code = measured(
        "int f(int n) { volatile int a[4]; a[0] = n; return n < 2 ? 1 : a[0] * f(n - 2) + f(n - 1); }",
        tmp_path,
    )
    with pytest.raises(BuildError, match="f: it calls itself, so its stack has no bound"):
        code.stack("f")
    code = measured("int f(int n) { volatile int kept[n]; kept[0] = n; return kept[0]; }", tmp_path)
    with pytest.raises(BuildError, match="f: the size of its stack frame is not fixed"):
        code.stack("f")


def test_the_worst_of_two_objects(tmp_path: Path) -> None:
    target = TARGETS["cortex-m4f"]
    for name, text in (
        ("one", "float two(float); float one(float x) { return two(x) + 1.0f; }"),
        ("two", "float two(float x) { volatile float kept[30]; kept[0] = x; return kept[0]; }"),
    ):
        (tmp_path / f"{name}.c").write_text(text)
        command = [f"{target.prefix}gcc", *target.flags, "-fstack-usage", "-c", tmp_path / f"{name}.c"]
        checked([*command, "-o", tmp_path / f"{name}.o"])
    both = figures([tmp_path / "one.o", tmp_path / "two.o"], target.prefix)
    assert both.undefined == frozenset()
    assert both.stack("one") == (both.functions["one"].frame or 0) + (both.functions["two"].frame or 0)
    assert figures(tmp_path / "one.o", target.prefix).undefined == {"two"}


def test_faults_are_one_line(tmp_path: Path) -> None:
    code = measured("int f(void) { return 1; }", tmp_path)
    with pytest.raises(BuildError, match="no function g in the object; it holds: f"):
        code.flash("g")
    with pytest.raises(BuildError, match="nowhere-objdump: not found; install"):
        figures(tmp_path / "code.o", "nowhere-")
    (tmp_path / "text.o").write_text("no object")
    with pytest.raises(BuildError, match=r"text.o.*compile the object again"):
        figures(tmp_path / "text.o", "arm-none-eabi-")
    (tmp_path / "code.su").unlink()
    with pytest.raises(BuildError, match=r"code.su: no stack report .*-fstack-usage"):
        figures(tmp_path / "code.o", "arm-none-eabi-")
    (tmp_path / "code.su").write_text("")
    with pytest.raises(BuildError, match=r"f is not in the stack report"):
        figures(tmp_path / "code.o", "arm-none-eabi-")


def test_all_tables_count(tmp_path: Path) -> None:
    """All tables count, although their addresses are neighbouring words of zero before linking."""
    names = [f"table{k}" for k in range(6)]
    tables = "\n".join(f"static const float {name}[{16 + k}] = {{1.0f}};" for k, name in enumerate(names))
    text = f"{tables}\nfloat f(int i) {{ return {' + '.join(f'{name}[i]' for name in names)}; }}"
    code = measured(text, tmp_path, "cortex-m4f", "-fdata-sections")
    assert sorted(code.functions["f"].constants.values()) == [4 * (16 + k) for k in range(6)]
