"""The examples of docs/cuda.md and of examples/ run, on a driver that runs kernels on the CPU."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.driver import StandIn
from support.pages import example
from support.pages import text_of as page
from support.tools import attempted, ran

from rbdgen.gpu import dlpack

EXAMPLE = Path(__file__).parents[2] / "examples" / "million_states_gpu.py"


def test_the_example_prints_what_the_page_says(driver: StandIn, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(example("cuda.md", "From Python"), names)
    section = page("cuda.md").partition("## From Python\n")[2].partition("\n## ")[0]
    assert f"```\n{capsys.readouterr().out}```" in section
    further, _ = section.split("```python\n")[2:]  # the other one is that of autograd, see test_torch.py
    names["torch"] = SimpleNamespace(from_dlpack=lambda x: dlpack.lent(x.__dlpack__(stream=1)))
    exec(further.partition("```")[0], names)
    assert names["tensor"].shape == (1000, 2)
    driver.finish()


def test_the_example_of_rollouts_prints_what_the_page_says(
    driver: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(example("cuda.md", "Rollouts"), {})
    assert f"```\n{capsys.readouterr().out}```" in page("cuda.md").partition("## Rollouts\n")[2]
    driver.finish()


def test_the_example_of_a_million_states(driver: StandIn, tmp_path: Path) -> None:
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = ("1000", "--robot", "double_pendulum")
    device, *times, compared = ran(sys.executable, EXAMPLE, *arguments, cwd=tmp_path, env=path).splitlines()
    assert device == "GPU 0 (Stand-in 0), 1,000 states of double_pendulum in float"
    assert [line.partition("  ")[0] for line in times] == ["call", "bound call", "copy to the host"]
    assert float(compared.partition("double: ")[2].partition(" ")[0]) < 1e-5


def test_the_example_of_a_million_states_needs_a_gpu(tmp_path: Path) -> None:
    path = {"RBDGEN_LIBCUDA": str(tmp_path / "libcuda.so"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = attempted(sys.executable, EXAMPLE, "1000", cwd=tmp_path, env=path)
    assert done.returncode == 0
    (line,) = done.stdout.splitlines()
    assert line.startswith("skipped, as it needs a GPU: the driver of NVIDIA is missing: ")
