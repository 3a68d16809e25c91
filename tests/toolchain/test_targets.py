"""The table of targets is complete and consistent, and refusals are clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.errors import BuildError, OptionError
from rbdgen.toolchain.targets import TARGETS, target_named


def test_every_promised_target_is_there() -> None:
    assert tuple(TARGETS) == (
        "host",
        "portable",
        "wasm32",
        "cuda",
        "cortex-m4f",
        "cortex-m7",
        "cortex-m33",
        "cortex-m55",
        "rv32imafc",
    )


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_rows_are_consistent(target: object) -> None:
    row = target_named(getattr(target, "name", ""))
    assert row is target
    assert "-ffp-contract=off" in row.flags  # bit equality with the host
    assert not {"-ffast-math", "-Ofast", "-fno-builtin"} & set(row.flags)
    assert row.width == 1
    assert row.embedded == bool(row.prefix)
    assert not (row.embedded and row.extensions)
    assert row.runs_here == (not row.embedded and not row.module and not row.kernels)
    assert not (row.module and (row.embedded or row.extensions))


def test_unknown_target_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError, match=r"cortex-m3' is not known; did you mean 'cortex-m33' or "):
        target_named("cortex-m3")
    with pytest.raises(
        OptionError, match=r"target='x' is not known; choose from: host, portable, wasm32, cuda, cortex"
    ):
        target_named("x")


def test_software_double_is_refused() -> None:
    with pytest.raises(OptionError, match=r"target='cortex-m4f', real='double': .*; take real='float'"):
        target_named("cortex-m4f").check_real("double")
    target_named("cortex-m4f").check_real("float")
    target_named("cortex-m7").check_real("double")


def test_what_does_not_fit_is_refused_with_figures() -> None:
    target = target_named("cortex-m4f")
    target.check_fits("aba", flash=524288, stack=131000, arguments=72)
    with pytest.raises(
        BuildError, match=r"aba: 524289 bytes of flash, .* \(STM32F446\) has 524288, 1 too few"
    ):
        target.check_fits("aba", flash=524289, stack=0, arguments=0)
    said = (
        r"aba: 131100 bytes of RAM \(stack 131000, arguments 100\), .* has 131072, 28 too few; .* or its ram"
    )
    with pytest.raises(BuildError, match=said):
        target.check_fits("aba", flash=0, stack=131000, arguments=100)
    target_named("host").check_fits("aba", flash=10**9, stack=10**9, arguments=10**9)


def test_ram_of_another_part() -> None:
    target = target_named("cortex-m4f").with_ram(1000)
    target.check_fits("aba", flash=524288, stack=900, arguments=100)
    with pytest.raises(BuildError, match=r"\(as asked for\) has 1000, 1 too few"):
        target.check_fits("aba", flash=0, stack=901, arguments=100)
    with pytest.raises(
        OptionError, match=r"ram: target='host' has no limit of RAM; choose from: cortex-m4f, "
    ):
        target_named("host").with_ram(1000)


def test_no_machine_path_in_the_table() -> None:
    assert not any(Path(flag).is_absolute() for row in TARGETS.values() for flag in row.flags)
