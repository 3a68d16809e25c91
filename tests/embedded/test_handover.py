"""The build files of a generated folder only need the prefix of a cross compiler."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from embedded.board import BOARDS, STRICT, SUPPORT, checked, run
from embedded.subjects import Product, generated

from rbdgen.toolchain.targets import TARGETS

FUNCTIONS = ("rnea", "aba")


def product(target: str, folder: Path) -> Product:
    return generated("double_pendulum", "fixed", FUNCTIONS, folder, real="float", target=target)


@pytest.mark.parametrize("target", ["portable", "cortex-m4f"])
def test_make_and_cmake_for_the_board(target: str, tmp_path: Path) -> None:
    folder = product(target, tmp_path).folder
    row = TARGETS["cortex-m4f"]
    told = {"CROSS": row.prefix, "MACHINE": " ".join(row.flags)} if target == "portable" else {}
    checked(["make", "-C", folder, f"BUILD={tmp_path}/make", *(f"{k}={v}" for k, v in told.items())])
    checked(
        [
            "cmake",
            "-S",
            folder,
            "-B",
            tmp_path / "cmake",
            *(f"-DDOUBLE_PENDULUM_{k}={v}" for k, v in told.items()),
        ]
    )
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


def test_the_page_as_it_stands(tmp_path: Path) -> None:
    """The page's call compiles, its flags are the target's, and its report runs the self-test in firmware."""
    folder = product("cortex-m4f", tmp_path).folder
    row, board = TARGETS["cortex-m4f"], BOARDS["cortex-m4f"]
    page = (folder / "README.md").read_text()
    call, report = re.findall(r"^```c\n(.*?)```$", page, re.MULTILINE | re.DOTALL)
    assert " ".join(row.flags) in page
    include, arrays, statement = re.fullmatch(r"(#include.*?)\n\n(.*;\n)(/\*.*;\n)", call, re.DOTALL).groups()  # type: ignore[union-attr]
    (tmp_path / "report.h").write_text(
        f'#include "semihosting.h"\n#define board_log(name, failed, wrong, bits, verdict) (host_write(name), '
        f"(void)(failed), (void)(wrong), (void)(bits), host_write(verdict))\n{report}"
    )
    (tmp_path / "main.c").write_text(
        f'{include}\n#include "semihosting.h"\n{arrays}int double_pendulum_selftest(void);\nint main(void);\n'
        f'int main(void)\n{{\n    {statement}    host_write(" called\\n");\n'
        "    return double_pendulum_selftest();\n}\n"
    )
    compiler = (f"{row.prefix}gcc", *row.flags, *STRICT, f"-I{folder}", f"-I{SUPPORT}")
    checked([*compiler, "-c", tmp_path / "main.c", "-o", tmp_path / "main.o"])
    selftest = (tmp_path / "selftest.o", folder / "selftest" / "double_pendulum_selftest.c")
    told = ("-Dmain=double_pendulum_selftest", "-include", tmp_path / "report.h")
    checked([*compiler, *told, "-c", "-o", *selftest])
    checked(["make", "-C", folder, f"BUILD={tmp_path}/make"])
    objects = (tmp_path / "main.o", selftest[0], tmp_path / "make" / "libdouble_pendulum_dynamics.a")
    elf = tmp_path / "firmware.elf"
    checked(
        [
            f"{row.prefix}gcc",
            *row.flags,
            f"-I{SUPPORT}",
            *board.support(),
            *objects,
            *board.link_flags(),
            "-o",
            elf,
        ]
    )
    lines, _ = run(elf, row)
    assert lines == [" called", "rnea as expectedaba as expected"]


def test_code_for_another_machine_is_not_run_here(tmp_path: Path) -> None:
    folder = product("cortex-m4f", tmp_path).folder
    with pytest.raises(AssertionError, match="name its emulator in RUN, or run the self-test on the board"):
        checked(["make", "-C", folder, f"BUILD={tmp_path}/make", "check"])


@pytest.mark.parametrize("board", ["cortex-m4f", "rv32imafc"])
def test_make_check_on_a_board(board: str, tmp_path: Path) -> None:
    """The self-test passes on boards in qemu, with the start-up code and the linker script of the folder."""
    machine = TARGETS[board].machine
    assert machine is not None
    folder = product("portable", tmp_path).folder
    said = checked(["make", "-s", "-C", folder, "check", f"BOARD={machine.name}"])
    line = r"^(\w+): ok, 0+ wrong elements in 02 states, bits [0-9a-f]{8} as expected$"
    assert tuple(re.findall(line, said, re.MULTILINE)) == FUNCTIONS


def test_a_wrong_function_fails_on_the_board(tmp_path: Path) -> None:
    folder = product("cortex-m4f", tmp_path).folder
    source = folder / "double_pendulum_rnea.c"
    head, brace, body = source.read_text().partition("{")
    source.write_text(head + brace + body.replace(" + ", " - ", 1))
    with pytest.raises(AssertionError, match=r"rnea: FAILED, [\s\S]*aba: ok, "):
        checked(["make", "-s", "-C", folder, "check", "BOARD=mps2-an386"])


def test_boards_and_tools_that_are_missing_are_told(tmp_path: Path) -> None:
    folder = product("cortex-m4f", tmp_path).folder
    with pytest.raises(AssertionError, match=r"BOARD=virt is not known here; choose from: mps2-an386\."):
        checked(["make", "-C", folder, "check", "BOARD=virt"])
    build = f"BUILD={tmp_path}/build"
    with pytest.raises(AssertionError, match=r"no-such-qemu is not installed\n"):
        checked(["make", "-C", folder, build, "check", "BOARD=mps2-an386", "EMULATOR=no-such-qemu -M x"])
