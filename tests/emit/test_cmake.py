"""A folder as a package of CMake: installed and found, static and shared, inside of a parent project."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rbdgen.emit.text import release_of
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.version import __version__

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of two robots for this machine, with batch functions."""
    options = Options(functions=("gravity",))
    root = tmp_path_factory.mktemp("folders")
    return {
        name: generate(load_robot(robot_root() / f"{name}.urdf"), options, root, compiled=False).folder
        for name in ("planar3r", "double_pendulum")
    }


def ran(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def project(path: Path, lists: str, main: str) -> Path:
    path.mkdir()
    (path / "CMakeLists.txt").write_text(lists)
    (path / "main.cpp").write_text(main)
    return path


CONSUMER = """\
cmake_minimum_required(VERSION 3.14)
project(consumer LANGUAGES C CXX)
find_package(planar3r VERSION REQUIRED)
find_package(double_pendulum REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer planar3r::dynamics double_pendulum::dynamics double_pendulum::batch)
""".replace("VERSION REQUIRED", f"{__version__} REQUIRED")

MAIN = """\
#include "double_pendulum.hpp"
#include "double_pendulum_batch.h"
#include "planar3r.hpp"
#include <cstdio>

int main()
{
    const double q[4] = {0.3, -0.7, 1.0, 2.0};
    const std::array<double, 2> one = double_pendulum::gravity(double_pendulum::at<2>(q));
    const std::array<double, 3> other = planar3r::gravity(planar3r::at<3>(q));
    double two[4];
    double_pendulum_gravity_batch(2, q, 2, two, 0);
    std::printf("%.17g %.17g\\n", one[0], other[0]);
    return one[0] == two[0] && one[1] == two[1] ? 0 : 1;
}
"""


def installed(folders: dict[str, Path], prefix: Path, *options: str) -> None:
    for name, folder in folders.items():
        build = prefix.parent / f"build_{name}"
        batch = f"-D{name.upper()}_BATCH=ON"
        ran("cmake", "-S", folder, "-B", build, batch, *options, cwd=prefix.parent)
        ran("cmake", "--build", build, cwd=prefix.parent)
        ran("cmake", "--install", build, "--prefix", prefix, cwd=prefix.parent)


@pytest.mark.parametrize("shared", [False, True])
def test_found(folders: dict[str, Path], tmp_path: Path, *, shared: bool) -> None:
    prefix = tmp_path / "prefix"
    installed(folders, prefix, f"-DBUILD_SHARED_LIBS={shared}")
    assert sorted(path.name for path in (prefix / "include").iterdir()) == sorted(
        f"{name}{end}" for name in folders for end in (".h", ".hpp", "_batch.h")
    )
    libraries = {path.name for path in prefix.glob("lib*/lib*")}
    major, minor, _ = __version__.split(".")
    assert ("libplanar3r_dynamics.a" in libraries) != shared
    assert (f"libplanar3r_dynamics.so.{major}.{minor}" in libraries) == shared
    consumer = project(tmp_path / "consumer", CONSUMER, MAIN)
    ran("cmake", "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    ran("cmake", "--build", consumer / "build", cwd=tmp_path)
    numbers = ran(consumer / "build" / "consumer", cwd=tmp_path).split()
    assert len(numbers) == 2


def test_another_minor_version_is_not_found(folders: dict[str, Path], tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    installed({"planar3r": folders["planar3r"]}, prefix)
    lists = CONSUMER.replace(f"planar3r {__version__}", "planar3r 999.9")
    consumer = project(tmp_path / "consumer", lists, MAIN)
    command = ["cmake", "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "999.9" in done.stderr


PARENT = """\
cmake_minimum_required(VERSION 3.14)
project(parent LANGUAGES C CXX)
set(MACHINE "a word of the parent")
set(CROSS "another")
add_compile_options(-ffast-math)
add_subdirectory(planar3r)
add_subdirectory(double_pendulum)
add_library(plugin SHARED main.cpp)
target_link_libraries(plugin PRIVATE planar3r::dynamics double_pendulum::dynamics)
install(TARGETS plugin planar3r_dynamics double_pendulum_dynamics EXPORT parent-targets DESTINATION lib)
install(EXPORT parent-targets DESTINATION lib/cmake/parent)
"""

SAME = """\
#include "double_pendulum.h"
#include "planar3r.h"

extern "C" void both(const double *q, double *one, double *two)
{
    planar3r_gravity(q, one);
    double_pendulum_gravity(q, two);
}
"""


def test_in_a_parent_with_other_flags(folders: dict[str, Path], tmp_path: Path) -> None:
    """Fast mathematics of a parent do not reach the folders, and its plug-in can contain the libraries."""
    parent = project(tmp_path / "parent", PARENT, SAME)
    for name, folder in folders.items():
        shutil.copytree(folder, parent / name)
    build = parent / "build"
    ran("cmake", "-S", parent, "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", cwd=tmp_path)
    ran("cmake", "--build", build, cwd=tmp_path)
    ran("cmake", "--install", build, "--prefix", tmp_path / "prefix", cwd=tmp_path)
    commands = (build / "compile_commands.json").read_text()
    own = [line for line in commands.splitlines() if '"command"' in line and "_gravity.c" in line]
    assert len(own) == 2
    for line in own:
        assert line.index("-ffast-math") < line.index("-fno-fast-math")
        assert "-ffp-contract=off" in line


def test_flags_that_a_compiler_does_not_know(folders: dict[str, Path], tmp_path: Path) -> None:
    flags = "-DPLANAR3R_MACHINE=-O1 -fno-such-thing-at-all"
    said = ran("cmake", "-S", folders["planar3r"], "-B", tmp_path / "build", flags, cwd=tmp_path)
    assert "planar3r: the compiler does not know -fno-such-thing-at-all, which is left out" in said
    ran("cmake", "--build", tmp_path / "build", cwd=tmp_path)
    assert "100% tests passed" in ran("ctest", "--test-dir", tmp_path / "build", cwd=tmp_path)


@pytest.mark.parametrize(
    ("version", "release"), [("0.1.0", "0.1.0"), ("1.2.0rc1", "1.2.0"), ("2.0", "2.0.0"), ("dev", "0.0.0")]
)
def test_versions_are_those_of_cmake(version: str, release: str) -> None:
    """CMake refuses versions of other things than numbers."""
    assert release_of(version) == release
