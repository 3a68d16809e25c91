"""NVRTC compiles kernels without a GPU, and what does not fit is refused in one line."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.tools import need_modules

import rbdgen
from rbdgen.cli.command import main
from rbdgen.errors import BuildError, OptionError
from rbdgen.toolchain import nvrtc
from rbdgen.toolchain.nvrtc import SHARED, architectures, check_shared

PINNED = "13.5"
"""The version of NVRTC with which the figures were taken; those of others may differ by 5 per cent."""

FIGURES: Mapping[tuple[str, str], Mapping[str, tuple[int, int]]] = {
    ("line", "float"): {"rnea": (63, 716), "aba": (80, 1136), "minv": (56, 1039)},
    ("line", "double"): {"rnea": (118, 1000), "aba": (158, 1493), "minv": (92, 1200)},
    ("warps", "float"): {"rnea": (32, 1028), "aba": (32, 1647), "minv": (32, 1910)},
    ("warps", "double"): {"rnea": (48, 1487), "aba": (56, 2150), "minv": (64, 1795)},
}
"""Registers and instructions by the form, the type of numbers and the function, for sm_90; nothing is
spilled."""


def need_nvrtc() -> None:
    need_modules("nvidia", packages="nvidia-cuda-nvrtc")


def test_the_page_has_the_figures() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cuda.md").read_text(encoding="utf-8")
    for (form, real), pinned in FIGURES.items():
        cells = " | ".join(f"{registers}, {count}" for registers, count in pinned.values())
        assert f"| `{form}`, {real} | {cells} |\n" in page


@pytest.mark.parametrize(("form", "real"), FIGURES)
def test_figures(form: str, real: str, tmp_path: Path) -> None:
    need_nvrtc()
    functions = list(FIGURES[form, real])
    forms = dict.fromkeys(functions, form)
    folder = rbdgen.generate("arm7", tmp_path, functions, target="cuda", real=real, variants=forms)
    manifest = json.loads((folder / "manifest.json").read_text())
    slack = 0.0 if manifest["build"]["version"] == PINNED else 0.05
    for name, pinned in FIGURES[form, real].items():
        facts = manifest["functions"][name]["cuda"]
        (own,) = facts["architectures"].values()
        assert (own["registers"], own["instructions"]) == pytest.approx(pinned, rel=slack, abs=0)
        assert own["stack_bytes"] == own["spill_bytes"] == 0
        cells = [form, *(str(facts[key]) for key in ("operations", "threads", "shared_bytes")), "sm_90"]
        assert f"| `{name}` | {' | '.join(cells)} |" in (folder / "README.md").read_text()


def test_a_kernel_of_a_user(tmp_path: Path) -> None:
    """The kernel on the page compiles, and its state and its loop stay in registers."""
    need_nvrtc()
    page = (Path(__file__).parents[2] / "docs" / "cuda.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```c\+\+\n(#include \"double_pendulum_aba.cuh\".*?)```", page, re.DOTALL)
    rbdgen.generate("double_pendulum", tmp_path, ["aba"], target="cuda", real="float")
    (folder,) = tmp_path.glob("**/cuda")
    headers = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.*h")}
    code = nvrtc.nvrtc().compiled(text, "swing.cu", headers, "sm_90")
    assert b".text.swing\0" in code.data
    assert code.figures.spill_bytes == code.figures.stack_bytes == 0


def test_machine_code_for_several_gpus(tmp_path: Path) -> None:
    """The files are ELF for CUDA (machine 190) and for the GPU of their name, and have the kernel."""
    need_nvrtc()
    archs = ["sm_80", "sm_120"]
    folder = rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="cuda", arch=",".join(archs))
    manifest = json.loads((folder / "manifest.json").read_text())
    found = manifest["functions"]["rnea"]["cuda"]["architectures"]
    assert list(found) == archs
    for arch in archs:
        data = (folder / found[arch]["cubin"]).read_bytes()
        assert data.startswith(b"\x7fELF\x02\x01")
        assert struct.unpack_from("<H", data, 18) == (190,)
        assert b".text.double_pendulum_rnea_kernel\0" in data
        assert arch.encode() in data
    assert set(manifest["files"]) == {
        x.relative_to(folder).as_posix() for x in folder.rglob("*") if x.is_file()
    }


def test_without_nvrtc_kernels_are_written_and_a_line_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nvrtc, "library_path", lambda: None)
    arguments = ["double_pendulum", "--target", "cuda", "-f", "rnea", "-o", str(tmp_path)]
    assert main(arguments) == 0
    told = capsys.readouterr().err.splitlines()
    assert [line for line in told if "NVRTC" in line] == [
        "rbdgen: wrote no machine code: NVRTC is not installed, which compiles kernels; "
        'pip install "rbdgen[cuda]"'
    ]
    assert (tmp_path / "double_pendulum/cuda/double_pendulum_rnea.cu").is_file()
    manifest = json.loads((tmp_path / "double_pendulum/manifest.json").read_text())
    assert "architectures" not in manifest["functions"]["rnea"]["cuda"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"arch": "sm_91"}, r"arch='sm_91': 'sm_91' is no GPU that is known; did you mean 'sm_90'"),
        ({"arch": "x86-64-v3"}, r"arch='x86-64-v3': .* is no GPU that is known; choose from: sm_75, "),
        ({"arch": "sm_90,sm_90"}, r"'sm_90' occurs twice; name it once$"),
        ({"contract": True}, r"target='cuda' fuses products and sums by itself; leave contract out"),
        ({"trig": "libm"}, r"target='cuda' has sines of its own, .*; leave trig='libm' out$"),
        ({"emit": ["bounds"]}, r"rounding errors do not hold for fused products; add same_bits, or"),
        ({"emit": ["colcon"]}, r"ROS 2 does not run there; take target='portable'"),
        ({"ram": 1000}, r"target='cuda' has no limit of RAM"),
    ],
)
def test_options_that_contradict_are_refused_before_any_work(
    options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=told) as refused:
        rbdgen.generate("double_pendulum", tmp_path, ["rnea"], target="cuda", **options)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_names_of_gpus() -> None:
    assert architectures("native") == ("sm_90",)
    assert architectures("sm_80, sm_120") == ("sm_80", "sm_120")


def test_shared_memory_that_a_gpu_lacks_is_refused_with_figures() -> None:
    functions = {"minv": {"cuda": {"shared_bytes": 150_000, "states_per_block": 32}}}
    check_shared(functions, ["sm_80", "sm_90"])
    with pytest.raises(
        BuildError, match=rf"^function 'minv' needs 150000 .* 32 states, .* sm_89 has at most {99 * 1024}; "
    ):
        check_shared(functions, ["sm_90", "sm_89"])


def test_what_nvrtc_refuses_is_one_line() -> None:
    need_nvrtc()
    with pytest.raises(
        BuildError, match=r"^wrong.cu for sm_90: NVRTC [\d.]+: .*error.*; report the"
    ) as refused:
        nvrtc.nvrtc().compiled('extern "C" __global__ void f(int x) { y = x; }', "wrong.cu", {}, "sm_90")
    assert "\n" not in str(refused.value)
    with pytest.raises(BuildError, match=r"^NVRTC [\d.]+ does not compile for sm_20; it knows .*sm_90"):
        nvrtc.check_architectures(["sm_20"])
    assert set(SHARED) <= set(nvrtc.nvrtc().known)


def test_the_newest_library_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("cu12/lib/libnvrtc.so.12", "cu13/lib/libnvrtc.so.13", "cu13/lib/libnvrtc.alt.so.13"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(b"")
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(nvrtc, "find_spec", lambda _: spec)
    path = nvrtc.library_path()
    assert path is not None
    assert path.name == "libnvrtc.so.13"
    with pytest.raises(BuildError, match=r"^libnvrtc.so.13 cannot be loaded \(.*\); pip install"):
        nvrtc.Nvrtc()
    monkeypatch.setattr(nvrtc, "find_spec", lambda _: None)
    with pytest.raises(BuildError, match=r"^NVRTC is not installed"):
        nvrtc.Nvrtc()


def test_figures_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    need_nvrtc()
    assert main(["list", "--counts", "arm7", "--target", "cuda", "-f", "rnea,aba", "--arch", "sm_90"]) == 0
    rows = [line.replace("│", " ").split() for line in capsys.readouterr().out.splitlines()]
    slack = 0.0 if nvrtc.nvrtc().version == PINNED else 0.05
    for name in ("rnea", "aba"):
        pinned = FIGURES["line", "float"][name]
        (row,) = [row for row in rows if row[:1] == [name]]
        assert row[1:3] == ["line", "sm_90"]
        assert (int(row[7]), int(row[9])) == pytest.approx(pinned, rel=slack, abs=0)
        assert row[8] == "0"
    assert main(["list", "--counts", "arm7", "--arch", "sm_90"]) == 2
    assert main(["list", "--target", "cuda"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "rbdgen: error: list: --arch is an option of kernels; give --target cuda as well",
        "rbdgen: error: list: --target is an option of a robot; give one with --counts ROBOT",
    ]
