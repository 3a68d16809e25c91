"""A folder only needs a C or C++ compiler, for its Makefile and for its C++ header, also with Eigen."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the double pendulum for any compiler."""
    options = Options(functions=("rnea", "aba", "rnea_derivatives"), target="portable")
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    return generate(robot, options, tmp_path_factory.mktemp("handover"), compiled=False).folder


def output(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_make_check(folder: Path, tmp_path: Path) -> None:
    said = output("make", "-s", f"BUILD={tmp_path}/build", "CFLAGS=-Werror", "check", cwd=folder)
    lines = [line.partition(", bits ") for line in said.splitlines()]
    assert [line[0] for line in lines] == [
        f"{name}: ok, 0 wrong elements in 2 states" for name in ("rnea", "aba", "rnea_derivatives")
    ]
    assert all(line[2].endswith(" as expected") for line in lines)
    assert len({int(line[2].split()[0], 16) for line in lines}) == 3
    figures = output("make", "-s", f"BUILD={tmp_path}/build", "figures", cwd=folder)
    assert "T double_pendulum_rnea" in figures
    assert "double_pendulum_aba.c" in figures
    output("make", "-s", f"BUILD={tmp_path}/build", "clean", cwd=folder)
    assert not (tmp_path / "build").exists()


def test_make_notices_a_wrong_function(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    output("cp", "-r", folder, copy, cwd=tmp_path)
    source = copy / "double_pendulum_rnea.c"
    head, brace, body = source.read_text().partition("{")
    assert " + " in body
    source.write_text(head + brace + body.replace(" + ", " - ", 1))
    done = subprocess.run(["make", "-s", "check"], cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "rnea: FAILED" in done.stdout


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the double pendulum on a floating base, with batch functions."""
    options = Options(functions=("rnea", "minv", "aba_derivatives"))
    robot = load_robot(robot_root() / "double_pendulum.urdf", "floating")
    return generate(robot, options, tmp_path_factory.mktemp("host"), compiled=False).folder


def test_make_check_batch(host: Path, tmp_path: Path) -> None:
    said = output("make", "-s", f"BUILD={tmp_path}/build", "CFLAGS=-Werror", "check-batch", cwd=host)
    assert said.splitlines() == [
        f"{name}: ok, 0 elements of batches differ from single calls"
        for name in ("rnea", "minv", "aba_derivatives")
    ]
    output("make", "-s", f"BUILD={tmp_path}/build", "batch", cwd=host)
    assert (tmp_path / "build" / "libdouble_pendulum_batch.a").is_file()
    assert "`make check-batch`" in (host / "README.md").read_text()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (
            "tau + k * 8, count - k, stream);",
            "tau + k * 8, 99, stream);",
        ),
        (
            "rnea_lanes(lanes_of_q, lanes_of_v, lanes_of_a",
            "rnea_lanes(lanes_of_q, lanes_of_v, lanes_of_v",
        ),
    ],
    ids=["beyond the last state", "another argument"],
)
def test_make_check_batch_notices_a_wrong_batch(host: Path, tmp_path: Path, line: str, wrong: str) -> None:
    copy = tmp_path / "copy"
    output("cp", "-r", host, copy, cwd=tmp_path)
    source = copy / "double_pendulum_rnea_batch.c"
    assert line in source.read_text()
    source.write_text(source.read_text().replace(line, wrong))
    done = subprocess.run(
        ["make", "-s", "check-batch"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "rnea: FAILED" in done.stdout
    assert "minv: ok" in done.stdout


def test_portable_folders_have_no_batch(folder: Path) -> None:
    assert not list(folder.glob("*batch*"))
    assert "batch" not in (folder / "Makefile").read_text()
    assert "BATCH" not in (folder / "CMakeLists.txt").read_text()
    assert "check-batch" not in (folder / "README.md").read_text()


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_with_batches(host: Path, tmp_path: Path) -> None:
    build = tmp_path / "build"
    output("cmake", "-S", host, "-B", build, "-DDOUBLE_PENDULUM_BATCH=ON", cwd=tmp_path)
    output("cmake", "--build", build, cwd=tmp_path)
    said = output("ctest", "--test-dir", build, cwd=tmp_path)
    assert "double_pendulum_batch_selftest" in said
    assert "100% tests passed, 0 tests failed out of 2" in said


PROGRAM = """
#include <Eigen/Dense>
#include "double_pendulum.hpp"

int main()
{
    namespace robot = double_pendulum;
    static_assert(robot::nq == 2 && robot::nv == 2 && robot::nbodies == 2, "sizes");
    const std::array<double, 2> q{{0.3, -0.7}};
    double v[2] = {0.5, 1.5};
    const Eigen::Vector2d a(2.0, -1.0);
    const auto tau = robot::rnea(q, v, a);

    Eigen::Vector4d wide = Eigen::Vector4d::Zero();
    Eigen::VectorXd back(2);
    robot::aba(q, v, tau, robot::at<2>(back.data()));
    robot::aba(q, v, tau, wide.segment<2>(1));
    const auto d = robot::rnea_derivatives(q, v, a);
    Eigen::Matrix<double, 2, 2, Eigen::RowMajor> by_q, by_v, M;
    robot::rnea_derivatives(q, v, Eigen::RowVector2d(2.0, -1.0), by_q, by_v, M);

    const double step = 1e-6;
    double shifted[2] = {v[0] + step, v[1]};
    std::array<double, 2> up;
    robot::rnea(q, shifted, a, up);
    const double slope = (up[1] - tau[1]) / step;

    const bool right = (back - a).norm() < 1e-12 && std::abs(slope - d.dtau_dv(1, 0)) < 1e-5
        && std::abs(d.dtau_dv(1, 0) - d.dtau_dv(0, 1)) > 1e-3
        && by_v == robot::map(d.dtau_dv) && by_q == robot::map(d.dtau_dq) && M == robot::map(d.dtau_da)
        && (robot::map(tau) - robot::map(robot::rnea(q, v, robot::at<2>(back.data())))).norm() < 1e-12
        && wide == Eigen::Vector4d(0.0, back[0], back[1], 0.0)
        && robot::view<double, 2>(v).size() == 2 && *robot::view<double, 2>(v).begin() == v[0];
    return right ? 0 : 1;
}
"""


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_cpp_with_eigen(standard: str, folder: Path, tmp_path: Path) -> None:
    output("make", "-s", f"BUILD={tmp_path}/build", cwd=folder)
    (tmp_path / "main.cpp").write_text(PROGRAM)
    eigen = Path(str(files("casadi"))) / "include" / "eigen3"
    warnings = ("-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
    library = tmp_path / "build" / "libdouble_pendulum_dynamics.a"
    command = ("g++", f"-std={standard}", *warnings, f"-I{folder}", f"-isystem{eigen}", "main.cpp")
    output(*command, library, "-o", "main", cwd=tmp_path)
    output(tmp_path / "main", cwd=tmp_path)


EIGEN = """
#include <Eigen/Core>
#include "double_pendulum.hpp"

void f()
{
    namespace robot = double_pendulum;
    double q[2] = {}, o[4] = {};
    Eigen::Matrix2d by_columns;
    Eigen::Matrix<double, 2, 2, Eigen::RowMajor> by_rows;
    Eigen::Matrix<double, 4, 4, Eigen::RowMajor> large;
    Eigen::VectorXd unknown(2);
    CALL;
}
"""


@pytest.mark.parametrize(
    ("call", "right"),
    [
        ("robot::rnea_derivatives(q, q, q, by_rows, o, o)", True),
        ("robot::rnea_derivatives(q, q, q, by_columns, o, o)", False),
        ("robot::rnea_derivatives(q, q, q, large.block<2, 2>(0, 0), o, o)", False),
        ("robot::gravity(by_rows.row(0))", True),
        ("robot::gravity(by_rows.col(0))", False),
        ("robot::gravity(unknown)", False),
        ("robot::gravity(robot::at<2>(unknown.data()))", True),
    ],
)
def test_eigen_is_taken_only_where_it_is_contiguous_by_rows(
    call: str, tmp_path: Path, *, right: bool
) -> None:
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    options = Options(functions=("gravity", "rnea_derivatives"))
    folder = generate(robot, options, tmp_path, compiled=False).folder
    (tmp_path / "main.cpp").write_text(EIGEN.replace("CALL", call))
    eigen = Path(str(files("casadi"))) / "include" / "eigen3"
    command = ["g++", "-std=c++11", "-fsyntax-only", f"-I{folder}", f"-isystem{eigen}", "main.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == right, done.stderr


@pytest.mark.parametrize(
    "call",
    [
        "std::array<double, 3> q{}; double_pendulum::rnea(q, q, q);",
        "double q[2] = {}; float v[2] = {}; double_pendulum::rnea(q, v, q);",
        "const double q[2] = {}; const double tau[2] = {}; double_pendulum::rnea(q, q, q, tau);",
        "double q[2] = {}; double_pendulum::rnea(q, q, q, &q[0]);",
    ],
    ids=["size", "type", "constant output", "bare pointer"],
)
def test_cpp_refuses(call: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(f'#include "double_pendulum.hpp"\nint main() {{ {call} }}\n')
    command = ["g++", "-std=c++11", "-fsyntax-only", f"-I{folder}", "main.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "main.cpp:2" in done.stderr
    assert " error: " in done.stderr


def test_all_sources_of_the_folder_are_one_library(folder: Path, host: Path, tmp_path: Path) -> None:
    """No file beside the functions has a main function, so that build tools can take all of them."""
    for made in (folder, host):
        objects = output("gcc", "-O1", "-r", "-o", "all.o", *made.glob("*.c"), cwd=tmp_path)
        symbols = output("nm", "all.o", cwd=tmp_path)
        assert objects == ""
        assert " T double_pendulum_rnea\n" in symbols
        assert " main\n" not in symbols


def test_make_leaves_out_flags_that_the_compiler_does_not_know(folder: Path, tmp_path: Path) -> None:
    build = f"BUILD={tmp_path}/build"
    command = ["make", "-s", build, "MACHINE=-O1 -fno-such-thing -ffp-contract=off", "check"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "double_pendulum: gcc does not know -fno-such-thing, which is left out\n"
    assert done.stdout.count("as expected") == 3


def test_make_names_the_package_of_a_missing_compiler(folder: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "mkdir", "echo"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    command = [str(shutil.which("make")), "-s", f"BUILD={tmp_path}/build", "CROSS=riscv64-unknown-elf-"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={"PATH": str(tools)}
    )
    assert done.returncode != 0
    wanted = "apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf"
    assert done.stderr.startswith(f"riscv64-unknown-elf-gcc is not installed; {wanted}\n")
