"""Generated functions as functions of CasADi: the C of `emit.casadi`, compiled with that of a library."""

from __future__ import annotations

import json
from operator import index
from pathlib import Path
from typing import Any

from rbdgen.emit.casadi.entries import Callee, Place, Second, Subject
from rbdgen.emit.casadi.matrices import is_flat
from rbdgen.emit.casadi.second import second_derivatives
from rbdgen.emit.casadi.source import casadi_source
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


def function_of(library: Library, more: More | None, name: str, knots: int = 1, hessian: bool = False) -> Any:
    """`library.casadi(name, knots, hessian)`; `more` builds derivatives that the library has not."""
    import casadi  # noqa: PLC0415  (heavy: loaded when used)

    _check(library, name, knots)
    found = _derivatives(library, name, hessian)
    first = found[:1] or [row.name for row in ALL.values() if row.derivative_of == name]
    if hessian and not first:
        raise LoadError(f"casadi: of {name} there is no function of derivatives; leave hessian out")
    wanted = 3 if hessian else 1
    if len(found) < wanted and more is not None and not library.parameters.names:
        names = [*first, *([f"{name}_vjp", f"{name}_hvp"] if hessian else [])]
        library = more([name, *names]) if names else library
        found = _derivatives(library, name, hessian)
    if hessian and len(found) < wanted:
        raise LoadError(
            f"casadi: for the Hessian of {name} its derivatives, {name}_vjp and {name}_hvp are needed, by "
            "coordinates; generate the folder with all of them (--coordinates), or leave hessian out"
        )
    symbol = casadi_name(library.name, name, knots)
    return casadi.external(symbol, str(_compiled(library, name, found, knots)))


def _check(library: Library, name: str, knots: object) -> None:
    if library.manifest["real"] != "double":
        raise LoadError(f"casadi: {name} computes in float, CasADi in double; build it with real='double'")
    try:
        sound = not isinstance(knots, bool) and index(knots) >= 1  # type: ignore[arg-type]
    except TypeError:
        sound = False
    if not sound:
        raise ArrayValueError(f"casadi: knots is {knots!r}; pass 1 or more states a call")


def _derivatives(library: Library, name: str, hessian: bool) -> list[str]:
    """The functions of the library that are derivatives of this one: first ones, then products if asked."""
    functions = library.manifest["functions"].items()
    first = [other for other, facts in functions if facts.get("derivative_of") == name][:1]
    products = [f"{name}_vjp", f"{name}_hvp"]
    usable = first and all(product in library.functions for product in products)
    if not (hessian and usable):
        return first
    gradients = library.functions[f"{name}_vjp"].signature.outputs
    by_q = is_flat(library.manifold) or any(x.size == library.manifold.nq for x in gradients[:1])
    return [*first, *products] if by_q else first


def _compiled(library: Library, name: str, derivatives: list[str], knots: int) -> Path:
    """The shared library with the function and its derivatives."""
    manifest, content = library.manifest, library.content
    origin = json.loads(content.text(ORIGIN))
    files = {file: content.text(file) for file in manifest["files"] if file.endswith((".c", ".h"))}
    files[MANIFEST] = origin["manifest"]

    def callee(function: str) -> Callee:
        return Callee(library.functions[function].signature, f"{library.name}_{function}_batch.c" in files)

    robot = f"the robot '{comment_text(manifest['robot_name'])}'"
    place = Place(library.name, robot, manifest["rbdgen"], library.manifold)
    second = _second(library, derivatives[2]) if len(derivatives) == 3 else None
    first, vjp, hvp = [*map(callee, derivatives), None, None, None][:3]
    subject = Subject(callee(name), first, vjp, hvp, second)
    own = {f"casadi/{casadi_name(library.name, name, knots)}.c": casadi_source(place, subject, knots)}
    toolchain = Toolchain(find_compiler(environment_compiler()), tuple(origin["flags"]), available_cores())
    return shared_library(Sources(library.name, files), own, toolchain, Cache(environment_cache()))


def _second(library: Library, hvp: str) -> Second:
    """Where second derivatives are not 0, by the compiled function."""
    function = library.functions[hvp]
    outputs = function.signature.outputs

    def evaluate(inputs: Any) -> dict[str, Any]:
        results = function(**inputs)
        arrays = results if len(outputs) > 1 else (results,)
        return {x.name: a.reshape(*a.shape[:2], x.size) for x, a in zip(outputs, arrays, strict=True)}

    return second_derivatives(evaluate, function.signature, library.manifold)
