"""The sample keeps every guarantee of emitted code, and violations are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from embedded.board import HERE, STRICT, checked, compile_subject
from embedded.misra import broken_rules, deviations
from embedded.subjects import pendulum

from rbdgen.figures.code import figures
from rbdgen.figures.guarantees import TRIGONOMETRY, violations
from rbdgen.toolchain.targets import TARGETS

FIRST = "    real s0;"


def broken(text: str, folder: Path, before: str = FIRST) -> Path:
    """Writes the sample with a fault, `text`, inserted, and returns its path."""
    source = folder / "pendulum.c"
    original = (HERE / "pendulum.c").read_text()
    assert before in original
    source.write_text(original.replace(before, f"{text}\n{before}", 1))
    return source


def found(source: Path | None, folder: Path, allowed: frozenset[str] = frozenset()) -> tuple[str, ...]:
    subject, target = pendulum("float", folder / "sincos", source), TARGETS["cortex-m4f"]
    return violations(figures(compile_subject(subject, target, folder), target.prefix), allowed)


def test_the_sample_keeps_every_promise(tmp_path: Path) -> None:
    assert found(None, tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "static real kept[6];\nkept[2] = kept[1] + q12;\nkept[1] = a0;",
            "24 bytes of zero-initialised writable globals",
        ),
        ("static real kept = (real)3.0;\nkept += q12;", "4 bytes of initialised writable globals"),
        (
            "extern void *malloc(unsigned size);\ntau[1] = (real)(unsigned)malloc(8u);",
            "malloc is undefined: heap",
        ),
        ("if (q12 > (real)1.0) { tau[1] = v0 / v1; return; }", "pendulum_rnea: 1 conditional branches"),
        ("for (int i = 0; i < (int)q12; ++i) { tau[i] = v0; }", "pendulum_rnea: 1 backward branches"),
        ("extern void other(void);\nother();", "other is undefined"),
        (
            "extern void *memset(void *to, int what, unsigned size);\nextern void outside(real *x);\n"
            "real kept[(int)q12];\noutside(kept);",
            "pendulum_rnea: the size of its stack frame is not fixed; remove variable-length arrays",
        ),
        (
            "typedef void call_t(void);\n(*(call_t *)(unsigned)q12)();",
            "pendulum_rnea: a call to a computed address",
        ),
    ],
    ids=["bss", "data", "heap", "branch", "loop", "symbol", "variable stack", "computed address"],
)
def test_a_broken_promise_is_noticed(text: str, said: str, tmp_path: Path) -> None:
    assert said in found(broken(text, tmp_path), tmp_path)


def test_trigonometry_may_be_allowed(tmp_path: Path) -> None:
    source = broken("extern float sinf(float x);\ntau[0] = sinf(q12);", tmp_path)
    source.write_text(source.read_text().replace("    tau[0] = ((third", "    tau[0] += ((third"))
    assert found(source, tmp_path) == ("sinf is undefined",)
    assert found(source, tmp_path, TRIGONOMETRY) == ()


@pytest.mark.parametrize("real", ["float", "double"])
def test_clean_as_c_and_cpp(real: str, tmp_path: Path) -> None:
    compile_as_c_and_cpp(None, real, tmp_path)


def compile_as_c_and_cpp(source: Path | None, real: str, folder: Path) -> None:
    """Compiles with all warnings, by the cross compiler and the host's, as C99 and as C++."""
    subject = pendulum(real, folder / "sincos", source)
    strict = [flag for flag in STRICT if flag != "-std=c99"]
    cross, host = TARGETS["cortex-m7"], TARGETS["portable"]
    for compiler, flags in (("arm-none-eabi-gcc", cross.flags), ("gcc", host.flags)):
        for language in (("-x", "c", "-std=c99"), ("-x", "c++", "-std=c++17")):
            command = [compiler, *flags, *strict, *language, *subject.flags(), "-c", *subject.sources]
            checked([*command, "-o", folder / "code.o"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tau[0] = 0.1 * q12;", "double-promotion|Wconversion|Wfloat-conversion"),
        ("const int kept = q12;\ntau[0] = (real)kept;", "conversion"),
        ("tau[0] = ({ q12; });", "pedantic"),
        ("real left;\n(void)v;", "unused"),
        ("tau[0] = (real)new;", "new"),
    ],
    ids=["double constant", "conversion", "extension", "unused", "C++ keyword"],
)
def test_a_warning_is_an_error(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=said):
        compile_as_c_and_cpp(broken(text, tmp_path), "float", tmp_path)


def test_misra(tmp_path: Path) -> None:
    subject = pendulum("float", tmp_path)
    assert broken_rules(subject.sources, subject.folders, ["-DREAL=float"]).keys() <= deviations().keys()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("if (v != tau) { tau[0] = 1.0f; } else if (q != v) { tau[0] = 2.0f; }", "15.7"),
        ("if (q12 > 1.0f) tau[0] = 1.0f;", "15.6"),
        ("const unsigned kept = 1 << 3;", "10.|7.2"),
        ("switch (1) { case 1: tau[0] = q12; }", "16."),
        ("const unsigned kept = 0x80000000;", "7.2"),
    ],
    ids=["no else", "no braces", "essential type", "switch", "suffix"],
)
def test_misra_notices(text: str, rule: str, tmp_path: Path) -> None:
    subject = pendulum("float", tmp_path / "sincos", broken(text, tmp_path))
    rules = broken_rules(subject.sources, subject.folders, ["-DREAL=float"])
    assert any(number.startswith(part) for number in rules for part in rule.split("|"))
