"""Choices and elementary functions on small machines: figures, promises, bits, rules of MISRA C."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from embedded.board import BOARDS, build_image, run_at_home, run_on_board
from embedded.misra import broken_rules
from embedded.subjects import Product
from support.toys import elementary, facts

from rbdgen.emit.package import MANIFEST, EmitOptions
from rbdgen.emit.render import render
from rbdgen.figures.code import figures
from rbdgen.machine import Real
from rbdgen.toolchain.cross import cross_compiler, with_figures
from rbdgen.toolchain.targets import TARGETS

CASES = [(name, real) for name in BOARDS for real in TARGETS[name].reals]


def product(folder: Path, name: str, real: Real) -> Product:
    """The toy's folder with the figures of a target."""
    target = TARGETS[name]
    compiler = cross_compiler(target)
    assert compiler is not None
    options = EmitOptions(real=real, target=name, extensions=False, trig="builtin")
    sources = with_figures(render(facts(), [elementary()], options), target, compiler, target.flags)
    for file, text in sources.files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    return Product(folder, json.loads(sources.files[MANIFEST]))


@pytest.mark.parametrize(("name", "real"), CASES)
def test_figures_and_bits(name: str, real: Real, tmp_path: Path) -> None:
    """No promise is broken: no branch, no call of the C library; and a board has the bits of this machine."""
    made = product(tmp_path / "made", name, real)
    subject, measured = made.subject("elementary"), made.manifest["functions"]["elementary"]
    assert measured["outside"] == []
    states = made.states("elementary", 20)
    image = build_image(subject, states, TARGETS[name], tmp_path / "image")
    code = figures(image.objects, TARGETS[name].prefix)
    assert measured["object_bytes"] == code.flash(subject.function) < 8_000
    assert 250 < measured["instructions"] == code.instructions(subject.function) < 2_000
    found, _ = run_on_board(subject, image, TARGETS[name])
    assert np.isfinite(found.values()).all()
    assert (found.bits == run_at_home(subject, states, tmp_path / "home").bits).all()
    assert measured["stack_bytes"] <= found.stack + BOARDS[name].alignment


@pytest.mark.parametrize("real", ["double", "float"])
def test_misra(real: Real, tmp_path: Path) -> None:
    made = product(tmp_path, "cortex-m7", real)
    subject = made.subject("elementary")
    assert broken_rules(subject.sources, subject.folders) == {}
