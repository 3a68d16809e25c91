"""The tools of WebAssembly and JavaScript, which tests need."""

from __future__ import annotations

import os
import shutil

import pytest

WEBASSEMBLY = ("clang", "wasm-ld")

NODE = ("node",)


def need(*programs: str) -> None:
    """Skips the test, or lets it fail in CI, if a program is missing."""
    if absent := [program for program in programs if shutil.which(program) is None]:
        word = f"missing: {', '.join(absent)}; Debian: apt-get install clang lld nodejs"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(word)
        pytest.skip(word)
