"""The controller in C that a page shows compiles without warnings, and prints what the page says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.pages import examples, text_of

import rbdgen


def test_the_controller_prints_what_the_page_says(tmp_path: Path) -> None:
    text = text_of("start/controller.md")
    (code,) = re.findall(r"^```c\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (printed,) = re.findall(r"^The program prints\n\n```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    folder = rbdgen.generate("double_pendulum", tmp_path, ["gravity", "rnea"], target="portable")
    (tmp_path / "main.c").write_text(code, encoding="utf-8")
    sources = [folder / f"double_pendulum_{name}.c" for name in ("gravity", "rnea")]
    options = ["-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", folder]
    program = tmp_path / "main"
    subprocess.run(["gcc", *options, tmp_path / "main.c", *sources, "-o", program], check=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    assert done.stdout == printed
    assert len(examples(text)) == 1
