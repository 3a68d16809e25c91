"""The descriptions of a folder for build tools: colcon, PlatformIO, Arduino, Zephyr and ESP-IDF.

The tools themselves are large, and most of them load more from the network. PlatformIO and catkin_pkg judge
their files where they are installed. Everything else is compiled as the files say, with stand-ins for the
functions of CMake that Zephyr and ESP-IDF define.
"""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.folders import selftest_sources
from support.pages import text_of

from rbdgen.errors import OptionError
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root
from rbdgen.version import __version__

yaml = pytest.importorskip("yaml")

TOOLS = ("colcon", "platformio", "arduino", "zephyr", "esp-idf")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the double pendulum, described to all tools."""
    options = Options(functions=("rnea", "gravity"), target="portable", real="float", emit=TOOLS)
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    return generate(robot, options, tmp_path_factory.mktemp("tools"), compiled=False).folder


def ran(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("emit", "target", "told"),
    [
        ("platformio", "host", r"platformio builds firmware, and target='host' writes no C for it; take "),
        ("zephyr", "wasm32", r"zephyr builds firmware, and target='wasm32' writes no C for it; take "),
        ("esp-idf", "cortex-m7", "ESP-IDF has no chips of Arm; take target='portable' in place of "),
        ("colcon", "cortex-m7", "ROS 2 does not run there; take target='portable' in place of "),
        ("arduino:3", "portable", "arduino has no further option; give arduino alone"),
    ],
)
def test_what_a_target_cannot_do_is_refused(emit: str, target: str, told: str, tmp_path: Path) -> None:
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    with pytest.raises(OptionError, match=rf"^emit=\['{emit}'\]: {told}"):
        generate(robot, Options(functions=("rnea",), target=target, emit=(emit,)), tmp_path, compiled=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("tool", "target"), [("arduino", "cortex-m4f"), ("esp-idf", "rv32imafc")])
def test_small_machines_are_described(tool: str, target: str, tmp_path: Path) -> None:
    robot = load_robot(robot_root() / "double_pendulum.urdf")
    options = Options(functions=("gravity",), target=target, real="float", emit=(tool,))
    made = generate(robot, options, tmp_path, compiled=False)
    assert {"library.properties", "idf_component.yml"} & set(made.manifest["files"])
    assert "library.json" not in made.manifest["files"]


def test_platformio_compiles_all_functions_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    described = json.loads((folder / "library.json").read_text())
    assert described["name"] == folder.name
    assert described["version"] == __version__
    assert all((folder / header).is_file() for header in described["headers"])
    build = described["build"]
    assert (build["srcDir"], build["srcFilter"]) == (".", ["-<*>", "+<*.c>"])
    for source in folder.glob("*.c"):
        ran("gcc", "-c", "-O1", *build["flags"], f"-I{folder}", source, cwd=tmp_path)
    assert len(list(tmp_path.glob("*.o"))) == 2


@pytest.mark.parametrize("file", ["library.json", "library.properties"])
def test_platformio_takes_the_descriptions(file: str, folder: Path) -> None:
    parser = pytest.importorskip("platformio.package.manifest.parser")
    schema = pytest.importorskip("platformio.package.manifest.schema")
    read = parser.ManifestParserFactory.new_from_file(str(folder / file)).as_dict()
    assert schema.ManifestSchema().load_manifest(read)["name"] == folder.name


ARDUINO = """
#include <cstdio>
struct { void begin(long) {} void println(double x) { std::printf("%.4f\\n", x); } } Serial;
"""

MAIN = '\n#include "sketch.h"\nint main() { setup(); loop(); }\n'


def sketch() -> str:
    """The sketch of the page."""
    _, section = text_of("recipes.md").split("\n## Arduino\n")
    found = re.search(r"^```cpp\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_a_sketch_needs_few_lines_of_its_own(folder: Path, tmp_path: Path) -> None:
    """The sketch of the page compiles as Arduino does it: the C at the top of the library as C, the sketch as
    C++ with Arduino's declarations before it.
    """
    assert len(sketch().splitlines()) <= 15
    (tmp_path / "sketch.h").write_text(ARDUINO + sketch())
    (tmp_path / "main.cpp").write_text(MAIN)
    ran("gcc", "-c", "-Os", *folder.glob("*.c"), f"-I{folder}", cwd=tmp_path)
    objects = list(tmp_path.glob("*.o"))
    ran("g++", "-std=gnu++11", f"-I{folder}", "main.cpp", *objects, "-lm", "-o", "main", cwd=tmp_path)
    ran("gcc", "-shared", "-fPIC", "-O1", *folder.glob("*.c"), "-lm", "-o", "whole.so", cwd=tmp_path)
    numbers = ctypes.c_float * 2
    q, v, a, tau = numbers(0.3, -0.7), numbers(), numbers(), numbers()
    ctypes.CDLL(str(tmp_path / "whole.so")).double_pendulum_rnea(q, v, a, tau)
    assert tau[0] != 0
    assert ran(tmp_path / "main", cwd=tmp_path) == f"{tau[0]:.4f}\n"


def test_the_properties_are_those_that_arduino_requires(folder: Path) -> None:
    """The list of required fields is that of Arduino's library specification, revision 2.1."""
    lines = [x for x in (folder / "library.properties").read_text().splitlines() if not x.startswith("#")]
    fields = dict(line.split("=", 1) for line in lines)
    required = ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url")
    assert {*required, "architectures", "includes"} == set(fields)
    assert all(fields.values())
    assert (fields["name"], fields["version"], fields["architectures"]) == (folder.name, __version__, "*")
    assert not (folder / "src").exists()  # else Arduino would compile this folder alone


ZEPHYR = """
cmake_minimum_required(VERSION 3.14)
project(app LANGUAGES C)
set(CONFIG_DOUBLE_PENDULUM y)
function(zephyr_include_directories folder)
  get_filename_component(whole ${folder} ABSOLUTE)
  include_directories(${whole})
  set_property(GLOBAL PROPERTY zephyr_include ${whole})
endfunction()
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY ${name})
  add_library(${name} STATIC "")
endmacro()
function(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGV})
endfunction()
function(zephyr_library_compile_options)
  target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGV})
endfunction()
cmake_policy(SET CMP0076 NEW)
add_subdirectory(FOLDER/CMAKE double_pendulum)
add_executable(app main.c)
get_property(include GLOBAL PROPERTY zephyr_include)
target_include_directories(app PRIVATE ${include})
target_link_libraries(app double_pendulum_dynamics m)
"""

CALL = """
#include "double_pendulum.h"
int main(void)
{
    const float q[2] = {0.3f, -0.7f};
    float tau[2];
    double_pendulum_gravity(q, tau);
    return tau[0] != 0.0f ? 0 : 1;
}
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_module_of_zephyr(folder: Path, tmp_path: Path) -> None:
    """The keys are those of the schema in Zephyr's scripts/zephyr_module.py."""
    module = yaml.safe_load((folder / "zephyr" / "module.yml").read_text())
    assert module == {"name": folder.name, "build": {"cmake": "zephyr", "kconfig": "zephyr/Kconfig"}}
    assert (folder / module["build"]["kconfig"]).read_text().count("\nconfig DOUBLE_PENDULUM\n") == 1
    text = ZEPHYR.replace("FOLDER", str(folder)).replace("CMAKE", module["build"]["cmake"])
    built(tmp_path, text)


ESP_IDF = """
cmake_minimum_required(VERSION 3.14)
project(app LANGUAGES C)
set(ESP_PLATFORM 1)
macro(idf_component_register)
  cmake_parse_arguments(component "" "" "SRCS;INCLUDE_DIRS" ${ARGN})
  set(COMPONENT_LIB __idf_double_pendulum)
  add_library(${COMPONENT_LIB} STATIC ${component_SRCS})
  target_include_directories(${COMPONENT_LIB} PUBLIC ${component_INCLUDE_DIRS})
endmacro()
add_subdirectory(FOLDER double_pendulum)
add_executable(app main.c)
target_link_libraries(app __idf_double_pendulum m)
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_component_of_esp_idf(folder: Path, tmp_path: Path) -> None:
    described = yaml.safe_load((folder / "idf_component.yml").read_text())
    assert described.keys() == {"version", "description"}
    assert described["version"] == __version__
    built(tmp_path, ESP_IDF.replace("FOLDER", str(folder)))


def built(root: Path, text: str) -> None:
    """Builds and runs a project, whose compilation of functions has the flags for exact results."""
    (root / "CMakeLists.txt").write_text(text)
    (root / "main.c").write_text(CALL)
    ran("cmake", "-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", cwd=root)
    ran("cmake", "--build", "build", cwd=root)
    ran(root / "build" / "app", cwd=root)
    commands = (root / "build" / "compile_commands.json").read_text()
    own = [x for x in commands.splitlines() if '"command"' in x and "double_pendulum_" in x]
    assert len(own) == 2
    assert all("-fno-fast-math -ffp-contract=off" in line for line in own)


def test_a_package_of_ros(folder: Path) -> None:
    root = ElementTree.fromstring((folder / "package.xml").read_bytes())
    assert (root.tag, root.attrib) == ("package", {"format": "3"})
    told = {child.tag: (child.text or "").strip() for child in root}
    assert (told["name"], told["version"], told["buildtool_depend"]) == (folder.name, __version__, "cmake")
    assert {"description", "maintainer", "license", "export"} <= told.keys()
    assert root.findtext("export/build_type") == "cmake"


def test_catkin_takes_the_package(folder: Path) -> None:
    package = pytest.importorskip("catkin_pkg.package")
    warnings: list[str] = []
    package.parse_package(str(folder), warnings=warnings).validate(warnings=warnings)
    assert warnings == []


def test_the_page_of_a_folder_has_a_section_for_each_tool(folder: Path) -> None:
    page = (folder / "README.md").read_text()
    titles = ("In a ROS 2 workspace", "With PlatformIO", "In Arduino sketches", "With Zephyr", "With ESP-IDF")
    assert all(f"\n## {title}\n" in page for title in titles)
    assert len(selftest_sources(folder)) == 3


def test_commands_of_the_page_are_those_that_work(tmp_path: Path) -> None:
    """Every command of the page writes the files of its tool."""
    from rbdgen.cli.command import main  # noqa: PLC0415  (the command line)

    commands = re.findall(r"^(rbdgen .*)$", text_of("recipes.md"), re.MULTILINE)
    tools = [re.findall(r"--emit (\S+)", command) for command in commands]
    assert {name for names in tools for name in names} >= set(TOOLS)
    for k, command in enumerate(commands):
        words = command.split()[1:]
        if "--emit" in words:
            if "-o" in words:
                at = words.index("-o")
                del words[at : at + 2]
            assert main([*words, "-o", str(tmp_path / f"{k}"), "-q", "--no-compile"]) == 0
