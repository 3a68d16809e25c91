"""Generated functions as functions of CasADi: compiles the C of `emit.casadi` with the sources of a
library."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Any

from rbdgen.emit.casadi.entries import Callee, Place
from rbdgen.emit.casadi.source import casadi_name, casadi_source
from rbdgen.emit.casadi.subjects import (
    Needed,
    hessian_in,
    is_by_elements,
    jacobian_in,
    needed,
    subject_of,
)
from rbdgen.emit.names import comment_text
from rbdgen.emit.package import MANIFEST, Sources
from rbdgen.errors import ArrayValueError, LoadError
from rbdgen.frameworks.functions import More
from rbdgen.frameworks.looking import looking
from rbdgen.functions.differentiated import mode_of
from rbdgen.functions.own_rows import own_rows
from rbdgen.functions.table import derivatives_of, is_differentiable, sets_of
from rbdgen.machine import available_cores
from rbdgen.options import environment_compiler
from rbdgen.runtime import Library
from rbdgen.runtime.configuration import Manifold
from rbdgen.runtime.library import signature_of
from rbdgen.runtime.log_cholesky import linear_of
from rbdgen.signature import UPDATE, numbers_of
from rbdgen.toolchain.cache import user_cache
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import ORIGIN, Toolchain
from rbdgen.toolchain.shared import shared_library
from rbdgen.toolchain.watch import Watch


def function_of(library: Library, more: More | None, name: str, knots: int = 1, hessian: bool = False) -> Any:
    """The result of `library.casadi(name, knots, hessian)`; `more` makes derivatives that the library
    lacks."""
    import casadi  # noqa: PLC0415  (heavy: loaded when used)

    _check(library, name, knots)
    folder = _Folder(_sources(library))
    wanted = folder.needed(name, hessian=hessian)
    if more is not None and folder.lacks(name, wanted):
        folder = _Folder(more.sources(list(dict.fromkeys([name, *wanted.names]))))
    if hessian and (not wanted.second or folder.lacks(name, wanted)):
        raise LoadError(_no_hessian(folder, name))
    symbol = casadi_name(library.name, name, knots)
    watched = nullcontext(Watch()) if more is None else more.watched()
    with watched as watch, _compiled(library, folder, name, knots, watch) as path:
        made = casadi.external(symbol, str(path))
    if name == UPDATE and library.parameters.log_cholesky:
        return _of_logarithms(library, made)
    return looking(made, library, library.functions[name].signature)


def _of_logarithms(library: Library, update: Any) -> Any:
    """Wraps `update` so that CasADi converts log-Cholesky parameters in p to linear ones."""
    import casadi  # noqa: PLC0415

    p = casadi.MX.sym("p", *update.size_in(0))
    rows = casadi.vertsplit(p)
    for ten in library.parameters.tens():
        rows[ten] = linear_of(rows[ten], casadi.exp)
    table = update(casadi.vertcat(*rows))
    return casadi.Function(update.name(), [p], [table], update.name_in(), update.name_out())


def _check(library: Library, name: str, knots: object) -> None:
    if library.manifest["real"] != "double":
        raise LoadError(f"casadi: {name} computes in float, CasADi in double; build it with real='double'")
    try:
        sound = not isinstance(knots, bool) and index(knots) >= 1  # type: ignore[arg-type]
    except TypeError:
        sound = False
    if not sound:
        raise ArrayValueError(f"casadi: knots is {knots!r}; pass 1 or more states a call")


@dataclass(frozen=True)
class _Folder:
    """The sources of a library, and facts from their manifest."""

    sources: Sources

    @cached_property
    def manifest(self) -> dict[str, Any]:
        return self.sources.manifest

    @cached_property
    def manifold(self) -> Manifold:
        return Manifold.of(self.manifest)

    def callee(self, name: str) -> Callee | None:
        """The function with this name; None if the folder has none."""
        facts = self.manifest["functions"].get(name)
        if facts is None:
            return None
        dependence = {
            output: {direction: numbers_of(text) for direction, text in by.items()}
            for output, by in facts.get("dependence", {}).items()
        }
        batch = f"{self.sources.name}_{name}_batch.c" in self.sources.files
        return Callee(signature_of(name, facts), batch, dependence)

    def value(self, name: str) -> Callee:
        """The function with this name, which the folder has."""
        found = self.callee(name)
        assert found is not None
        return found

    def product(self, name: str, of: Callee) -> Callee | None:
        """The product `name` with derivatives of a function for q's elements; None if there is none."""
        found = self.callee(name)
        return found if found is not None and is_by_elements(found, of.signature) else None

    def derivatives(self, name: str) -> str | None:
        """The name of the function that returns all derivatives of this one; None if there is none.

        NAME_jacobian and NAME_gradient are used where the folder has them.
        """
        value = self.value(name).signature
        return jacobian_in(value, self.callee, flat=self.manifold.flat) or derivatives_of(
            name, sets_of(self.manifest)
        )

    def hessian(self, name: str) -> str | None:
        """The name of the function that returns all second derivatives of this one; None if the folder has
        none.
        """
        return hessian_in(self.value(name).signature, self.callee, flat=self.manifold.flat)

    def needed(self, name: str, *, hessian: bool) -> Needed:
        """The functions that give the derivatives of a function; none if it cannot be differentiated."""
        value = self.value(name)
        given = any(x.kind in ("sines", "cosines") for x in value.signature.inputs)
        found = needed(value.signature, self.derivatives(name), hessian=hessian, whole=self.hessian(name))
        known = name == UPDATE or self.is_differentiable(name)
        if given or not known or self.is_of_tangents(name):
            return Needed(None if given else found.derivatives, None, ())
        return found

    def is_differentiable(self, name: str) -> bool:
        """Whether there are products with the derivatives of a function."""
        return is_differentiable(name, sets=sets_of(self.manifest), own=own_rows(self.manifest))

    def is_of_tangents(self, name: str) -> bool:
        """Whether a function is a product with derivatives in the tangent space of q that differ from those
        with respect to the elements of q."""
        by_elements = self.manifold.flat or self.manifest["options"].get("coordinates")
        return mode_of(name) is not None and not by_elements

    def lacks(self, name: str, wanted: Needed) -> bool:
        """Whether the folder lacks one of the functions that give the derivatives."""
        value = self.value(name)
        products = dict.fromkeys(x for x in (wanted.first, *wanted.second) if x and x != self.hessian(name))
        missing = wanted.derivatives is not None and self.callee(wanted.derivatives) is None
        return missing or any(self.product(product, value) is None for product in products)


def _no_hessian(folder: _Folder, name: str) -> str:
    """The message that says why a function has no second derivatives."""
    if not folder.is_differentiable(name):
        return f"casadi: {name} has no second derivatives; leave hessian out"
    if folder.is_of_tangents(name):
        return (
            f"casadi: {name} has no second derivatives, as it is in the tangent space of q; "
            "build it with coordinates=True, or leave hessian out"
        )
    return (
        f"casadi: the Hessian of {name} needs its derivatives, {name}_vjp and {name}_hvp, by the elements of "
        "q; generate the folder with all of them and coordinates=True, or leave hessian out"
    )


def _sources(library: Library) -> Sources:
    """The sources of a library, as they were before it was compiled."""
    content = library.content
    names = [file for file in library.manifest["files"] if file.endswith((".c", ".h"))]
    files = {file: content.text(file) for file in names}
    files[MANIFEST] = json.loads(content.text(ORIGIN))["manifest"]
    return Sources(library.name, files)


def _compiled(
    library: Library, folder: _Folder, name: str, knots: int, watch: Watch
) -> AbstractContextManager[Path]:
    """Compiles the function and its derivatives; gives the path of the shared library."""
    manifest, sources = folder.manifest, folder.sources
    robot = f"the robot '{comment_text(manifest['robot_name'])}'"
    place = Place(sources.name, robot, manifest["rbdgen"], folder.manifold)
    value = folder.value(name)
    products = {f"{name}_{mode}" for mode in ("vjp", "jvp", "hvp")}
    subject = subject_of(
        name,
        folder.derivatives(name),
        lambda other: folder.product(other, value) if other in products else folder.callee(other),
        folder.hessian(name),
    )
    own = {f"casadi/{casadi_name(sources.name, name, knots)}.c": casadi_source(place, subject, knots)}
    flags = json.loads(library.content.text(ORIGIN))["flags"]
    toolchain = Toolchain(find_compiler(environment_compiler()), tuple(flags), available_cores())
    return shared_library(sources, own, toolchain, user_cache(), watch)
