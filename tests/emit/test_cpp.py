"""The C++ header has all functions of the C, also as members of a type and in a table."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest
from support.pages import text_of

import rbdgen

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
ROBOTS = {"double_pendulum": ("rnea", "minv", "step", "gravity"), "planar3r": ("rnea", "step", "gravity")}

MAIN = """
#include "double_pendulum.hpp"
#include "inertia.hpp"
#include "planar3r.hpp"

#include <vector>

namespace pendulum = double_pendulum;
using numbers = std::array<double, 2>;

/* Any robot as a type. */
template <class Robot>
double effort()
{
    std::array<double, Robot::nq> q;
    q.fill(0.3);
    const std::array<double, Robot::nv> still{};
    double sum = 0;
    for (double x : Robot::rnea(q, still, still))
        sum += x * x;
    return sum;
}

/* Any robot, chosen while the program runs. */
double effort(const rbdgen::robot<double> &robot)
{
    const rbdgen::function<double> *const rnea = robot.find("rnea");
    if (!rnea || rnea->inputs != 3 || rnea->outputs != 1 || robot.find("nothing"))
        return -1;
    const std::vector<double> q(rnea->sizes[0], 0.3), v(rnea->sizes[1]), a(rnea->sizes[2]);
    std::vector<double> tau(rnea->sizes[3]);
    const double *const in[] = {q.data(), v.data(), a.data()};
    double *const out[] = {tau.data()};
    rnea->call(in, out);
    double sum = 0;
    for (double x : tau)
        sum += x * x;
    return sum;
}

bool tables()
{
    const rbdgen::robot<double> *const robots[] = {&pendulum::table(), &planar3r::table()};
    return robots[0]->nq == 2 && robots[1]->nq == 3 && effort(*robots[0]) == effort<pendulum::model>()
        && effort(*robots[1]) == effort<planar3r::model>() && effort(*robots[0]) > 0;
}

bool batches()
{
    std::vector<numbers> q(5), tau(5);
    std::vector<pendulum::matrix<2, 2>> inverses(5);
    for (std::size_t k = 0; k < 5; ++k)
        q[k] = numbers{{0.1 * double(k), -0.7}};
    const numbers still{};
    pendulum::rnea_batch(5, q.data(), still, still, tau.data());
    pendulum::model::minv_batch(5, pendulum::many<2>(q[0].data()), inverses.data());
    for (std::size_t k = 0; k < 5; ++k)
        if (pendulum::rnea(q[k], still, still) != tau[k] || pendulum::minv(q[k]) != inverses[k])
            return false;
    return tau[0] != tau[1];
}

bool rollouts()
{
    const double dt[1] = {0.01};
    const std::vector<numbers> controls(6, numbers{{1.0, -0.5}});
    const numbers starts[2] = {{{0.1, 0.2}}, {{0.3, 0.4}}}, still{};
    std::vector<numbers> q(3), v(3), many_q(6), many_v(6);
    pendulum::step_rollout(3, starts[1], still, controls.data(), dt, q.data(), v.data());
    pendulum::model::step_rollout_batch(
        2, 3, &starts[0], still, controls.data(), dt, many_q.data(), many_v.data());
    numbers now = starts[1], speed = still;
    for (std::size_t k = 0; k < 3; ++k) {
        const pendulum::step_result next = pendulum::step(now, speed, controls[k], dt);
        now = next.q_next;
        speed = next.v_next;
        if (now != q[k] || now != many_q[3 + k] || speed != many_v[3 + k])
            return false;
    }
    numbers end, end_speed;
    pendulum::step_rollout(3, starts[1], still, controls.data(), dt, &end, &end_speed, true);
    return end == now && end_speed == speed && many_q[2] != now;
}

bool in_place()
{
    std::array<double, 10> inertia{{2, 0.1, 0.2, 0.3, 1, 1.5, 1.2, 0, 0, 0}};
    const std::array<double, 9> turn{{0, -1, 0, 1, 0, 0, 0, 0, 1}};
    const std::array<double, 10> turned = inertia::rotated(inertia, turn);
    inertia::model::rotated_in_place(inertia, turn);
    return turned == inertia;
}

int main()
{
    return tables() && batches() && rollouts() && in_place() ? 0 : 1;
}
"""


def ran(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of two robots and of inertias, each with its objects."""
    root = tmp_path_factory.mktemp("cpp")
    made = [rbdgen.generate(name, root, names, compiled=False) for name, names in ROBOTS.items()]
    made.append(rbdgen.generate_inertia(root, functions=["rotated"], compiled=False))
    for folder in made:
        ran("gcc", "-O1", "-march=native", "-ffp-contract=off", "-c", *folder.glob("*.c"), cwd=folder)
    return made


@pytest.mark.parametrize("standard", ["c++11", "c++2b"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_all_functions_of_the_c(compiler: str, standard: str, folders: list[Path], tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (tmp_path / "main.cpp").write_text(MAIN)
    included = [f"-I{folder}" for folder in folders]
    objects = [path for folder in folders for path in folder.glob("*.o")]
    command = (compiler, f"-std={standard}", *STRICT, *included, "main.cpp")
    ran(*command, *objects, "-lm", "-o", "main", cwd=tmp_path)
    ran(tmp_path / "main", cwd=tmp_path)


@pytest.mark.parametrize(
    "call",
    [
        "std::array<double, 3> x[2]; double_pendulum::rnea_batch(2, x, x, x, x);",
        "const std::array<double, 2> x[2] = {}; double_pendulum::rnea_batch(2, x, x, x, x);",
        "double x[4] = {}; std::array<double, 2> y[2]; double_pendulum::rnea_batch(2, x, x, x, y);",
        "std::array<double, 2> x{}; double_pendulum::rnea_batch(2, x, x, x, x);",
    ],
    ids=["size", "constant output", "neither a state nor many", "one output for all states"],
)
def test_wrong_batches_are_refused(call: str, folders: list[Path], tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(f'#include "double_pendulum.hpp"\nint main() {{ {call} }}\n')
    command = ["g++", "-std=c++11", "-fsyntax-only", f"-I{folders[0]}", "main.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "main.cpp:2" in done.stderr


def test_a_robot_is_chosen_at_run_time(folders: list[Path], tmp_path: Path) -> None:
    """The program of the page finds the same torques as a direct call."""
    _, section = text_of("recipes.md").split("\n## A robot that is chosen at run time\n")
    found = re.search(r"^```cpp\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    (tmp_path / "main.cpp").write_text(
        found[1].replace("tau(gravity->sizes[1]);", "tau(gravity->sizes[1]); q[0] = 0.3;")
    )
    included = [f"-I{folder}" for folder in folders]
    objects = [path for folder in folders[:2] for path in folder.glob("*.o")]
    ran("g++", "-std=c++11", *STRICT, *included, "main.cpp", *objects, "-lm", "-o", "main", cwd=tmp_path)
    for k, name in enumerate(ROBOTS):
        said, torque = ran(tmp_path / "main", str(k), cwd=tmp_path).split()
        direct = rbdgen.build(name, functions=["gravity"]).gravity([0.3] + [0.0] * (k + 1))
        assert said == name
        assert float(torque) == pytest.approx(direct[0], rel=1e-5)
        assert direct[0] != 0


EIGEN = """
add_library(Eigen3::Eigen INTERFACE IMPORTED)
set_target_properties(Eigen3::Eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "FOLDER")
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_two_robots_with_eigen_need_few_lines(tmp_path: Path) -> None:
    """The project of the page finds two installed robots; it has at most 20 lines."""
    _, section = text_of("recipes.md").split("\n## CMake and Eigen\n")
    lists, main = re.findall(r"^```c\w+\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[:2]
    assert len(lists.splitlines()) + len(main.splitlines()) <= 20
    prefix = tmp_path / "prefix"
    for name in ROBOTS:
        folder = rbdgen.generate(name, tmp_path, ["gravity"], compiled=False)
        ran("cmake", "-S", folder, "-B", tmp_path / f"build_{name}", cwd=tmp_path)
        ran("cmake", "--build", tmp_path / f"build_{name}", "--target", f"{name}_dynamics", cwd=tmp_path)
        ran("cmake", "--build", tmp_path / f"build_{name}", cwd=tmp_path)
        ran("cmake", "--install", tmp_path / f"build_{name}", "--prefix", prefix, cwd=tmp_path)
    eigen = prefix / "lib" / "cmake" / "Eigen3"
    eigen.mkdir(parents=True)
    found = Path(str(files("casadi"))) / "include" / "eigen3"
    (eigen / "Eigen3Config.cmake").write_text(EIGEN.replace("FOLDER", str(found)))
    (tmp_path / "CMakeLists.txt").write_text(lists)
    (tmp_path / "main.cpp").write_text(main)
    ran("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    ran("cmake", "--build", "build", cwd=tmp_path)
    printed = [float(x) for x in ran(tmp_path / "build" / "consumer", cwd=tmp_path).split()]
    lib = rbdgen.build("double_pendulum", functions=["gravity"])
    assert printed[:2] == pytest.approx(lib.gravity([0.3, -0.7]), rel=1e-5)
    assert len(printed) == 3
