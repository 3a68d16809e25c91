"""Emulated boards give the bits of this machine and the counted instructions, and report faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from embedded.board import BOARDS, HERE, SUPPORT, build_image, checked, run, run_at_home, run_on_board
from embedded.subjects import pendulum

from rbdgen.toolchain.targets import TARGETS

SPARE = 64  # bytes next to the stack pointer that the measurement does not fill


def states(count: int) -> np.ndarray:
    """Random states with numbers that are exact in float and double."""
    return np.random.default_rng(1).uniform(-3, 3, (count, 6)).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("board", BOARDS)
def test_bits_instructions_and_stack(board: str, real: str, tmp_path: Path) -> None:
    target, subject, inputs = TARGETS[board], pendulum(real, tmp_path), states(8)
    image = build_image(subject, inputs, target, tmp_path / board)
    result, executed = run_on_board(subject, image, target, list(image.figures.functions))
    home = run_at_home(subject, inputs, tmp_path / "home")
    np.testing.assert_array_equal(result.bits, home.bits)
    assert len(np.unique(result.bits)) > 8
    calls = 2 * len(inputs)  # one call for the outputs, and one for the stack
    assert sum(executed.values()) == calls * image.figures.instructions(subject.function)
    if real in target.reals:  # figures do not include routines of software arithmetic
        assert result.stack <= max(SPARE, image.figures.stack(subject.function))
        assert result.stack >= image.figures.stack(subject.function) - BOARDS[board].alignment


def test_a_branch_shows_in_the_executed_count(tmp_path: Path) -> None:
    source = tmp_path / "pendulum.c"
    text = (HERE / "pendulum.c").read_text()
    source.write_text(
        text.replace(
            "    real s0;",
            "    if (q[0] > (real)0.5) {\n        tau[1] = q[0] / q[1] / q[0] / q[1];\n"
            "        return;\n    }\n    real s0;",
        )
    )
    target, subject, inputs = TARGETS["cortex-m4f"], pendulum("float", tmp_path / "sincos", source), states(8)
    image = build_image(subject, inputs, target, tmp_path / "board")
    _, executed = run_on_board(subject, image, target, [subject.function])
    static = image.figures.functions[subject.function].instructions
    assert executed[subject.function] != 2 * len(inputs) * static


def test_contraction_shows_in_the_bits(tmp_path: Path) -> None:
    target, subject, inputs = TARGETS["cortex-m4f"], pendulum("float", tmp_path), states(8)
    contracted = replace(target, flags=(*target.flags, "-ffp-contract=fast"))
    home = run_at_home(subject, inputs, tmp_path / "home")
    image = build_image(subject, inputs, contracted, tmp_path / "board")
    result, _ = run_on_board(subject, image, target)
    assert (home.bits != result.bits).any()


def program(folder: Path, text: str, *flags: str) -> Path:
    """Compiles a small program for the M4F board, and returns its path."""
    source, elf, board = folder / "main.c", folder / "main.elf", BOARDS["cortex-m4f"]
    source.write_text(text)
    common = (*board.link_flags(), f"-I{SUPPORT}")
    checked(["arm-none-eabi-gcc", *flags, source, *board.support(), *common, "-o", elf])
    return elf


M4F = TARGETS["cortex-m4f"].flags


def test_data_and_bss_are_set_up(tmp_path: Path) -> None:
    text = (
        '#include "semihosting.h"\nstatic char words[] = "ready\\n"; static int zero;\n'
        "int main(void) { words[0] = 'R'; host_write(words); return zero++; }\n"
    )
    lines, _ = run(program(tmp_path, text, *M4F), TARGETS["cortex-m4f"])
    assert lines == ["Ready"]


@pytest.mark.parametrize(
    ("text", "flags", "said"),
    [
        ("int main(void) { return 3; }", M4F, "status 3"),
        (
            "int main(void) { *(volatile int *)0x60000000 = 1; return *(volatile int *)0x7ffffff0; }",
            M4F,
            "status 99",
        ),
        ("double x = 3; int main(void) { x = x * x; return 0; }", TARGETS["cortex-m7"].flags, "status 99"),
    ],
    ids=["exit status", "bus fault", "double instructions on the M4"],
)
def test_failures_are_noticed(text: str, flags: tuple[str, ...], said: str, tmp_path: Path) -> None:
    elf = program(tmp_path, text, *flags)
    with pytest.raises(AssertionError, match=said):
        run(elf, TARGETS["cortex-m4f"])
