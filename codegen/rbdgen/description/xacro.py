"""Expands xacro to URDF with the package `xacro`, but without running code of the file.

The package's own `$(eval ...)` runs any Python, and its `${...}` can be made to do so. This module evaluates
both with `expressions.py` instead, within the bounds of `work.py`. ROS is not needed: `$(find PACKAGE)`
searches folders (`packages.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, NamedTuple
from xml.dom import minidom

from rbdgen.description.document import parse, read_bytes
from rbdgen.description.expressions import evaluate
from rbdgen.description.packages import find_package
from rbdgen.description.quoting import escaped, quoted
from rbdgen.description.work import Work
from rbdgen.errors import DescriptionError

_PACKAGE_PATH = re.compile(r"package://([^/]*)/(.*)", re.DOTALL)
_LOCATIONS = (
    "when instantiating macro:",
    "instantiated from:",
    "in file:",
    "included from:",
    "when processing",
)
_LONGEST = 300

_STEPS_OF_ELEMENT = 100
"""The steps that it costs to copy one element of a macro or a block."""

_running = Lock()
"""The package keeps its state in global variables, so only one file is expanded at a time."""


class Expanded(NamedTuple):
    """The URDF that a xacro expands to."""

    urdf: bytes
    path: str  # the name of the URDF in messages
    warnings: tuple[str, ...]


def expand(path: str, arguments: Mapping[str, str], bounds: float = 1.0) -> Expanded:
    """The URDF that a xacro file expands to; its lines are those that `xacro PATH` prints.

    Raises DescriptionError if the package is missing or refuses the file.
    """
    with _running:
        xacro, substitution = _packages(path)
        given, told = _Arguments(arguments), StringIO()
        try:
            with _Reader(xacro, substitution, bounds).guarding(), redirect_stderr(told):
                text = xacro.process_file(path, mappings=given).toprettyxml(indent="  ")
        except DescriptionError:
            raise
        except Exception as error:  # the package raises exceptions of many types
            raise _as_description_error(error, (xacro.filestack or [path])[-1]) from None
    place = f"{path} (expanded)"
    unused = [name for name in arguments if name not in given.asked]
    ignored = [
        f"{place}: the file does not use the xacro argument {quoted(name)}; ignored" for name in unused
    ]
    return Expanded(text.encode(), place, (*ignored, *_warnings(place, told.getvalue())))


def _as_description_error(error: object, path: str) -> DescriptionError:
    """An error of the package as a DescriptionError of one line.

    The package wraps errors in others, as their attribute `exc`; a DescriptionError inside is returned as it
    is.
    """
    message = str(error)
    while (cause := getattr(error, "exc", None)) is not None:
        if message.startswith("<class "):
            message = str(cause)
        error = cause
    if isinstance(error, DescriptionError):
        return error
    message = " ".join(message.split()) or type(error).__name__
    return DescriptionError(path, None, f"xacro says: {escaped(message, _LONGEST)}", "correct the file")


class _Arguments(dict[str, str]):
    """The arguments by name. The attribute `asked` collects the names that the file declares or uses."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def _packages(path: str) -> tuple[ModuleType, ModuleType]:
    """The package `xacro` and its module of substitutions.

    On import they replace a method of Python's minidom; this function restores the method.
    """
    write = minidom.Element.writexml
    try:
        import xacro  # noqa: PLC0415  (an extra)
        from xacro import substitution_args  # noqa: PLC0415
    except ImportError:
        raise DescriptionError(
            path,
            None,
            "this is a xacro, which is read by the package xacro",
            "pip install 'rbdgen[xacro]', or give a URDF",
        ) from None
    finally:
        minidom.Element.writexml = write  # type: ignore[method-assign]
    return xacro, substitution_args


class _Reader:
    """Functions that replace those of the package while it expands a file."""

    def __init__(self, xacro: ModuleType, substitution: ModuleType, bounds: float) -> None:
        self.xacro, self.substitution = xacro, substitution
        self.load_yaml, self.eval_text = xacro.load_yaml, xacro.eval_text
        self.clone = minidom.Element.cloneNode
        self.bounds = bounds
        self.work = Work(bounds)

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Lets xacro evaluate expressions, and find files and packages, by the methods of this reader.

        Global symbols are made anew, so that none of them remain from another file.
        """
        xacro = self.xacro

        def clone(element: minidom.Element, deep: bool) -> Any:
            self.work.spend(_STEPS_OF_ELEMENT * (1 + len(element.getElementsByTagName("*"))))
            return self.clone(element, deep)

        with (
            _replaced(xacro, abs_filename_spec=self.path, parse=self.parse, load_yaml=self.yaml),
            _replaced(xacro, safe_eval=self.evaluate, eval_text=self.text, verbosity=0),
            _replaced(self.substitution, _eval=self.eval, _eval_find=self.find, _eval_dirname=self.folder),
            _replaced(minidom.Element, writexml=xacro.xmlutils.fixed_writexml, cloneNode=clone),
            _replaced(xacro, _global_symbols=xacro.create_global_symbols()),
        ):
            yield

    def evaluate(self, text: str, symbols: dict[str, Any], _: object = None) -> Any:
        """The value of `${...}`."""
        return evaluate(text, symbols, self.work)

    def text(self, text: str, symbols: Any) -> Any:
        """A text with its expressions evaluated. Its letters count as steps, which bounds texts that macros
        repeat."""
        found = self.eval_text(text, symbols)
        self.work.spend(1 + len(found) // 8 if isinstance(found, str) else 1)
        return found

    def folder(self, _: object = None) -> str:
        """The folder of the file that is being read."""
        return str(Path(self.xacro.filestack[-1]).resolve().parent)

    def find(self, package: str) -> str:
        return str(find_package(package, Path(self.folder())))

    def path(self, name: str) -> str:
        """The path of a file that another file names as `package://...`, or relative to the file being
        read."""
        if found := _PACKAGE_PATH.fullmatch(name):
            return str(Path(self.find(found[1])) / found[2])
        return str(Path(self.xacro.filestack[-1]).parent / name)

    def parse(self, _: object, path: str) -> minidom.Document:
        if not Path(path).is_file():
            self.xacro.filestack.pop()
            raise self.xacro.XacroException(f"no file {path} to include", exc=FileNotFoundError())
        data = read_bytes(path, self.bounds)
        parse(data, path)  # raises an error with the line if the file is not XML
        return minidom.parseString(data)

    def yaml(self, name: str) -> Any:
        path = self.path(name)
        if not Path(path).is_file():
            raise self.xacro.XacroException(f"no file {path} to load")
        read_bytes(path, self.bounds)  # raises an error if the file is too large
        return self.load_yaml(path)

    def eval(self, text: str, context: Mapping[str, Any]) -> str:
        """The value of `$(eval ...)`."""
        given, convert = context["arg"], self.substitution.convert_value
        names = {name: convert(value, "auto") for name, value in given.items()}
        functions = {
            "arg": lambda name: convert(given[name], "auto"),
            "find": self.find,
            "env": self.substitution._eval_env,
            "optenv": self.substitution._eval_optenv,
            "dirname": self.folder,
            **{kind.__name__: kind for kind in (list, dict, map, str, float, int)},
        }
        constants = {"true": True, "false": False}
        return str(self.evaluate(text, {**vars(math), **names, **constants, **functions}))


@contextmanager
def _replaced(owner: Any, **values: Any) -> Iterator[None]:
    """Replaces attributes of an object while this context runs."""
    kept = {name: value for name, value in vars(owner).items() if name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name in values:
            if name in kept:
                setattr(owner, name, kept[name])
            else:
                delattr(owner, name)


def _warnings(path: str, told: str) -> Iterator[str]:
    """A warning for every line that xacro printed, without the lines that give locations."""
    for line in told.splitlines():
        if line.strip() and not line.startswith(_LOCATIONS):
            yield f"{path}: xacro says: {escaped(line.removeprefix('warning: '), _LONGEST)}"
