"""The build files of a generated folder, told only the prefix of a cross compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from embedded.board import checked
from embedded.subjects import Product, generated

from rbdgen.build.targets import TARGETS

FUNCTIONS = ("rnea", "aba")


def product(target: str, folder: Path) -> Product:
    return generated("double_pendulum", "fixed", FUNCTIONS, folder, real="float", target=target)


@pytest.mark.parametrize("target", ["portable", "cortex-m4f"])
def test_make_and_cmake_for_the_board(target: str, tmp_path: Path) -> None:
    folder = product(target, tmp_path).folder
    row = TARGETS["cortex-m4f"]
    told = {"CROSS": row.prefix, "MACHINE": " ".join(row.flags)} if target == "portable" else {}
    checked(["make", "-C", folder, f"BUILD={tmp_path}/make", *(f"{k}={v}" for k, v in told.items())])
    checked(["cmake", "-S", folder, "-B", tmp_path / "cmake", *(f"-D{k}={v}" for k, v in told.items())])
    checked(["cmake", "--build", tmp_path / "cmake"])
    for tool in ("make", "cmake"):
        library = tmp_path / tool / "libdouble_pendulum_dynamics.a"
        symbols = checked(["arm-none-eabi-nm", library])
        assert all(f" T double_pendulum_{name}" in symbols for name in FUNCTIONS)
        attributes = checked(["arm-none-eabi-readelf", "-A", library])
        assert "Tag_FP_arch: VFPv4-D16" in attributes
        assert "Tag_ABI_VFP_args: VFP registers" in attributes


def test_cmake_at_home(tmp_path: Path) -> None:
    folder = product("portable", tmp_path).folder
    build = tmp_path / "build"
    checked(["cmake", "-S", folder, "-B", build])
    checked(["cmake", "--build", build])
    assert "100% tests passed" in checked(["ctest", "--test-dir", build])


def test_cmake_inside_another_project(tmp_path: Path) -> None:
    folder = product("portable", tmp_path).folder
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(outer LANGUAGES C)\n"
        f"add_subdirectory({folder.name})\nadd_executable(main main.c)\n"
        "target_link_libraries(main PRIVATE double_pendulum::dynamics)\n"
    )
    (tmp_path / "main.c").write_text(
        '#include "double_pendulum.h"\n'
        "int main(void)\n{\n    float q[2] = {0}, tau[2];\n    double_pendulum_rnea(q, q, q, tau);\n"
        "    return tau[0] != 0.0f;\n}\n"
    )
    checked(["cmake", "-S", tmp_path, "-B", tmp_path / "build"])
    checked(["cmake", "--build", tmp_path / "build"])
    checked([tmp_path / "build" / "main"])
