"""Generated functions as functions of CasADi: the C of `emit.casadi`, compiled with that of a library."""

from __future__ import annotations

import json
from operator import index
from pathlib import Path
from typing import Any

from rbdgen.emit.casadi.source import Callee, Place, Subject, casadi_source
from rbdgen.emit.names import casadi_name, comment_text
from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.errors import ArrayValueError, LoadError
from rbdgen.frameworks.functions import More
from rbdgen.functions.table import ALL
from rbdgen.machine import available_cores
from rbdgen.options import environment_cache, environment_compiler
from rbdgen.runtime import Library
from rbdgen.toolchain.cache import Cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import ORIGIN, Toolchain
from rbdgen.toolchain.shared import shared_library


def function_of(library: Library, more: More | None, name: str, knots: int = 1) -> Any:
    """`library.casadi(name, knots)`; `more` builds derivatives that the library has not."""
    import casadi  # noqa: PLC0415  (heavy: loaded when used)

    _check(library, name, knots)
    derivatives = _derivatives(library, name)
    if derivatives is None and more is not None and not library.parameters.names:
        known = [row.name for row in ALL.values() if row.derivative_of == name]
        library = more([name, *known]) if known else library
        derivatives = _derivatives(library, name)
    symbol = casadi_name(library.name, name, knots)
    return casadi.external(symbol, str(_compiled(library, name, derivatives, knots)))


def _check(library: Library, name: str, knots: object) -> None:
    if name not in library.functions:
        raise LoadError(
            f"casadi: no function {name!r} was generated; there are: {', '.join(library.functions)}"
        )
    if library.manifest["real"] != "double":
        raise LoadError(f"casadi: {name} computes in float, CasADi in double; build it with real='double'")
    try:
        sound = not isinstance(knots, bool) and index(knots) >= 1  # type: ignore[arg-type]
    except TypeError:
        sound = False
    if not sound:
        raise ArrayValueError(f"casadi: knots is {knots!r}; pass 1 or more states a call")


def _derivatives(library: Library, name: str) -> str | None:
    """The function of the library whose outputs are the derivatives of this one."""
    functions = library.manifest["functions"].items()
    return next((other for other, facts in functions if facts.get("derivative_of") == name), None)


def _compiled(library: Library, name: str, derivatives: str | None, knots: int) -> Path:
    """The shared library with the function and its derivatives."""
    manifest, content = library.manifest, library.content
    origin = json.loads(content.text(ORIGIN))
    files = {file: content.text(file) for file in manifest["files"] if file.endswith((".c", ".h"))}
    files[MANIFEST] = origin["manifest"]

    def callee(function: str) -> Callee:
        return Callee(library.functions[function].signature, f"{library.name}_{function}_batch.c" in files)

    names = [name] if derivatives is None else [name, derivatives]
    place = Place(
        library.name,
        f"the robot '{comment_text(manifest['robot_name'])}'",
        manifest["rbdgen"],
        library.manifold,
    )
    subject = Subject(*map(callee, names))
    own = {f"casadi/{casadi_name(library.name, name, knots)}.c": casadi_source(place, subject, knots)}
    toolchain = Toolchain(find_compiler(environment_compiler()), tuple(origin["flags"]), available_cores())
    return shared_library(Sources(library.name, files), names, own, toolchain, Cache(environment_cache()))
