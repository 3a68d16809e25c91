"""The backends, which print the files of a folder, and those among them that `--emit` requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, cast

from rbdgen.wording import option

if TYPE_CHECKING:
    from rbdgen.emit.folder import Folder
    from rbdgen.functions.function import Function
    from rbdgen.model.model import Model
    from rbdgen.options import Options


@dataclass(frozen=True)
class Backend:
    """A backend, which prints some files of a folder. Its code is the folder `emit/NAME`, imported when it is
    needed.

    `emit/NAME/files.py` has `files`. If options exclude it, `emit/NAME/request.py` has `refused`; if its
    files need functions, it has `extended`.
    """

    name: str
    asked: bool = False
    """Whether it prints only if `--emit` names it."""
    adds: str = ""
    """The files that `--emit NAME` adds, in words, for the help of the command line."""
    details: bool = False
    """Whether `--emit NAME:DETAIL` has a meaning."""
    on_computers: bool = False
    """Whether its files run on computers only: neither on a small machine nor in a browser."""
    library: str = ""
    """The library that its C files and the functions that they call are compiled into; `{robot}` stands for
    the name of the robot. Empty for none.
    """
    needs: tuple[str, ...] = ()
    """The other backends whose files its files need; `--emit` names them with it."""
    loaded_by: str = ""
    """The program that opens the library, in words, for the build files."""

    def files(self, folder: Folder) -> Mapping[str, str]:
        """The files of the backend, by path in the folder; none if the folder needs none."""
        return cast("Mapping[str, str]", self._part("files").files(folder))

    def refused(self, options: Options, detail: str, *, small_machine: bool) -> str | None:
        """The reason why these options exclude the backend, with advice; None if they do not.

        Args:
            options: all options.
            detail: the text after the colon in `--emit NAME:DETAIL`, empty if there is no colon.
            small_machine: whether the target runs neither Python nor the library.
        """
        if detail and not self.details:
            return f"{self.name} has no further option; give {self.name} alone"
        if self.on_computers and (small_machine or options.target == "wasm32"):
            return f"it runs on a computer; leave {option('target', options.target)} out"
        return self._refused(options, detail, small_machine=small_machine)

    def extended(
        self, options: Options, rows: Mapping[str, Function], model: Model, parameters: int
    ) -> Options:
        """The options with the functions that its files need in addition to those asked for.

        Args:
            options: all options.
            rows: the functions asked for, by name.
            model: the robot.
            parameters: the number of its parameters that are inputs.
        """
        extended = self._request("extended")
        return cast("Options", extended(options, rows, model, parameters)) if extended else options

    def library_of(self, robot: str) -> str:
        """The file name of its library."""
        return self.library.format(robot=robot)

    def _refused(self, options: Options, detail: str, *, small_machine: bool) -> str | None:
        refused = self._request("refused")
        return cast("str | None", refused(options, detail, small_machine=small_machine)) if refused else None

    def _request(self, function: str) -> Any:
        """A function of its module `request`; None if it has none."""
        has_one = find_spec(f"rbdgen.emit.{self.name}.request") is not None
        return getattr(self._part("request"), function, None) if has_one else None

    def _part(self, module: str) -> Any:
        return import_module(f"rbdgen.emit.{self.name}.{module}")


@dataclass(frozen=True)
class BuildTool(Backend):
    """A backend that describes the folder to a build tool of other people. It only fills templates, which are
    in the folder `templates/NAME`, and its code is `emit/build_tools`.
    """

    described: tuple[str, ...] = ()
    """The paths of its files in the folder."""

    def files(self, folder: Folder) -> Mapping[str, str]:
        return cast("Mapping[str, str]", self._part("files").files(folder, self.name, self.described))

    def extended(
        self, options: Options, rows: Mapping[str, Function], model: Model, parameters: int
    ) -> Options:
        """The options as they are: a description needs no functions."""
        del rows, model, parameters
        return options

    def _refused(self, options: Options, detail: str, *, small_machine: bool) -> str | None:
        del detail
        found = self._part("request").refused(self.name, options, small_machine=small_machine)
        return cast("str | None", found)

    def _part(self, module: str) -> Any:
        return import_module(f"rbdgen.emit.build_tools.{module}")


BACKENDS: Final = (
    Backend(
        "acados",
        asked=True,
        details=True,
        adds="a Python module that makes models for acados, with the functions of casadi",
        needs=("casadi",),
    ),
    Backend("c"),
    Backend("batch"),
    Backend(
        "casadi",
        asked=True,
        details=True,
        adds="functions for casadi.external, with sparse derivatives (casadi:N: also of N states per call)",
        library="lib{robot}_casadi.so",
        loaded_by="casadi.external",
    ),
    Backend(
        "crocoddyl",
        asked=True,
        adds="models for Crocoddyl in C++ (DifferentialActionModelAbstract)",
    ),
    Backend("cuda"),
    Backend(
        "eigen",
        asked=True,
        adds="a C++ header with column-major matrices of Eigen, as those of Pinocchio",
    ),
    Backend(
        "fmu",
        asked=True,
        details=True,
        adds="an FMU of FMI 3.0 for co-simulation of step (fmu:NAME: of another integration step)",
        library="{robot}_fmu.so",
        loaded_by="fmu/pack.py",
    ),
    Backend(
        "javascript",
        asked=True,
        adds="functions as an ES module in JavaScript, for web pages and node",
    ),
    BuildTool(
        "colcon",
        asked=True,
        adds="package.xml, with which colcon builds the folder in a ROS 2 workspace",
        described=("package.xml",),
    ),
    BuildTool("platformio", asked=True, adds="library.json for PlatformIO", described=("library.json",)),
    BuildTool(
        "arduino", asked=True, adds="library.properties for Arduino", described=("library.properties",)
    ),
    BuildTool(
        "zephyr",
        asked=True,
        adds="a module of Zephyr",
        described=("zephyr/module.yml", "zephyr/CMakeLists.txt", "zephyr/Kconfig"),
    ),
    BuildTool("esp-idf", asked=True, adds="a component of ESP-IDF", described=("idf_component.yml",)),
    Backend("julia", asked=True, on_computers=True, adds="a module of Julia"),
    Backend(
        "matlab",
        asked=True,
        on_computers=True,
        adds="a script of MATLAB that makes blocks of Simulink",
    ),
    Backend("ocs2", asked=True, adds="models for OCS2 in C++ (SystemDynamicsBase)"),
    Backend(
        "bounds",
        asked=True,
        adds="a header with bounds of values and rounding errors over --range, and the same in the manifest",
    ),
    Backend("project"),
    Backend("python"),
    Backend("readme"),
    Backend("ros2", asked=True, adds="a package of ROS 2 with inverse dynamics and an effort controller"),
    Backend("rust", asked=True, adds="a crate of Rust without std, which compiles and calls the C"),
    Backend("webassembly"),
)
"""The backends, in the order in which a folder lists their files.

To add a language, add a folder in `emit`, a folder in `templates` and a row here.
"""

ON_REQUEST: Final = {backend.name: backend for backend in BACKENDS if backend.asked}
"""The backends that `--emit` names."""


def asked_for(emit: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names in `--emit`, each with the text after its colon (empty if there is no colon), and then the
    names of backends that these need."""
    named = [(name, detail) for name, _, detail in (one.partition(":") for one in emit)]
    yield from named
    known = {name for name, _ in named}
    for name, _ in named:
        for needed in ON_REQUEST[name].needs if name in ON_REQUEST else ():
            if needed not in known:
                known.add(needed)
                yield needed, ""
