"""The module of Julia and the script of MATLAB, whose texts alone are checked: neither program can be had."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from support.toys import facts, inertia, straight, torque

import rbdgen
from rbdgen.emit.package import EmitOptions, Sources
from rbdgen.emit.render import render
from rbdgen.errors import OptionError
from rbdgen.graph.node import Graph, Input
from rbdgen.graph.programs.program import straight_line


def rendered(real: str = "double") -> Sources:
    """Two functions, of which one has names that Julia reserves."""
    source = torque()
    graph = straight(source)
    renamed = Graph((Input("module", 2), Input("end", 2)), graph.nodes, graph.outputs, graph.labels)
    inputs = tuple(
        replace(x, name=name) for x, name in zip(source.signature.inputs, ("module", "end"), strict=True)
    )
    signature = replace(source.signature, inputs=inputs)
    named = replace(source, signature=signature, program=straight_line(renamed), batch=None)
    numbers = EmitOptions("float" if real == "float" else "double", "builtin", emit=("julia", "matlab"))
    return render(facts(), [named, inertia()], numbers)


def test_julia() -> None:
    text = rendered().files["julia/toy.jl"]
    assert "function torque(module_, end_)\n" in text
    assert 'module_ = argument("module_", module_, 2)' in text
    assert (
        "ccall((:toy_inertia, library), Cvoid, (Ptr{Float64}, Ptr{Float64}, Ptr{Float64},), q, M, g)" in text
    )
    assert "M = result(2, 2)\n" in text
    assert "return rows(M), rows(g)\n" in text
    opened = re.findall(r"^ *(?:module|function|begin|if|for|while|let|struct)\b", text, re.MULTILINE)
    assert len(opened) == len(re.findall(r"^ *end$", text, re.MULTILINE))
    assert text.count('"""') == 4


def test_matlab() -> None:
    text = rendered("float").files["matlab/toy_simulink.m"]
    prototypes = re.findall(r"OutputFcnSpec = '(.*)';", text)
    assert prototypes == [
        "void toy_torque(single u1[2], single u2[2], single y1[2])",
        "void toy_inertia(single u1[2], single y1[2][2], single y2[2])",
    ]
    assert text.count("'") % 2 == 0
    assert text.count("legacy_code('initialize')") == 2


@pytest.mark.parametrize("name", ["julia", "matlab"])
def test_refused(name: str) -> None:
    with pytest.raises(OptionError, match=f"has no further option; give {name} alone$"):
        rbdgen.generate("double_pendulum", emit=[f"{name}:2"])
    with pytest.raises(OptionError, match=r"it runs on a computer; leave target='cortex-m7' out$"):
        rbdgen.generate("double_pendulum", emit=[name], target="cortex-m7")
