"""The backends, which print the files of a folder, and those among them that `--emit` requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from rbdgen.emit.folder import Folder
    from rbdgen.functions.function import Function
    from rbdgen.model.model import Model
    from rbdgen.options import Options


@dataclass(frozen=True)
class Backend:
    """A backend, which prints some files of a folder. Its code is the folder `emit/NAME`, imported when it is
    needed.

    `emit/NAME/files.py` has `files`. If it must be asked for, `emit/NAME/request.py` has `refused` and
    `extended`.
    """

    name: str
    asked: bool = False
    """Whether it prints only if `--emit` names it."""
    adds: str = ""
    """The files that `--emit NAME` adds, in words, for the help of the command line."""
    library: str = ""
    """The library that its C files and the functions that they call are compiled into; `{robot}` stands for
    the name of the robot. Empty for none.
    """
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
        found = self._part("request").refused(options, detail, small_machine=small_machine)
        return cast("str | None", found)

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
        return cast("Options", self._part("request").extended(options, rows, model, parameters))

    def library_of(self, robot: str) -> str:
        """The file name of its library."""
        return self.library.format(robot=robot)

    def _part(self, module: str) -> Any:
        return import_module(f"rbdgen.emit.{self.name}.{module}")


BACKENDS: Final = (
    Backend("c"),
    Backend("batch"),
    Backend(
        "casadi",
        asked=True,
        adds="functions for casadi.external, with sparse derivatives (casadi:N: also of N states per call)",
        library="lib{robot}_casadi.so",
        loaded_by="casadi.external",
    ),
    Backend(
        "javascript",
        asked=True,
        adds="functions as an ES module in JavaScript, for web pages and node",
    ),
    Backend(
        "bounds",
        asked=True,
        adds="a header with bounds of values and rounding errors over --range, and the same in the manifest",
    ),
    Backend("project"),
    Backend("python"),
    Backend("readme"),
    Backend("webassembly"),
)
"""The backends, in the order in which a folder lists their files.

To add a language, add a folder in `emit`, a folder in `templates` and a row here.
"""

ON_REQUEST: Final = {backend.name: backend for backend in BACKENDS if backend.asked}
"""The backends that `--emit` names."""


def asked_for(emit: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names in `--emit`, each with the text after its colon (empty if there is no colon)."""
    for one in emit:
        name, _, detail = one.partition(":")
        yield name, detail
