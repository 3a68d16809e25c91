"""rbdgen's functions of a robot as C: analytical derivatives, finite differences that call the same C, and
the inverse of the inertia matrix by its Cholesky factorization."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import rbdgen
from benchmarks import toolchain
from benchmarks.c_driver import CFunction, Timed, measure
from benchmarks.states import Rows, States
from rbdgen.model.build import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import toolchain_of
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain

STEP: Final = 1e-8
"""The step of finite differences, about the square root of the rounding error of a double."""

FUNCTIONS: Final = (
    "rnea",
    "rnea_derivatives",
    "rnea_jacobian",
    "aba",
    "aba_derivatives",
    "aba_jacobian",
    "crba",
    "minv",
    "integrate",
)

DIFFERENCES: Final = {
    "rnea_differences": ("rnea", "a", "crba"),
    "aba_differences": ("aba", "tau", "minv"),
}
"""By name: the function that is differentiated, its third argument, and the function that gives the
derivative by this argument. The paper's finite differences are also 2 nv + 1 calls."""

TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, keep_trailing_newline=True
)


@dataclass(frozen=True)
class Effort:
    """The effort of a measurement."""

    links: int  # the number of links of each function, with the code at other addresses
    seconds: float  # for each link
    slow: bool = False  # whether to compile C of CppADCodeGen of any length


@dataclass(frozen=True)
class Generated:
    """A folder of generated C, which also has the finite differences."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The functions that are measured."""
        return *(name for name in self.manifest["functions"] if name != "integrate"), *DIFFERENCES

    def timed(self, name: str, states: States, effort: Effort) -> Timed:
        """A function with the faster of the compilers, which get the flags that `rbdgen` itself uses."""
        inputs = inputs_of(name, states)
        shape = CFunction(self._symbol(name), tuple(x.shape[1] for x in inputs), self._sizes(name))
        flags = toolchain_of(Options()).flags
        rivals = [
            measure(
                shape,
                self._sources(name),
                inputs,
                compiler=compiler,
                flags=Toolchain(find_compiler(compiler.c), flags).function_flags,
                relinks=effort.links,
                seconds=effort.seconds,
            )
            for compiler in toolchain.available()
        ]
        return min(rivals, key=lambda timed: timed.measurement.ns)

    def _symbol(self, name: str) -> str:
        return f"{self.manifest['name']}_{name}"

    def _sizes(self, name: str) -> tuple[int, ...]:
        if name in DIFFERENCES:
            return (self.manifest["nv"] ** 2,) * 3
        outputs = self.manifest["functions"][name]["outputs"]
        return tuple(int(np.prod(output["shape"])) for output in outputs)

    def _sources(self, name: str) -> Sequence[Path]:
        function, _, exact = DIFFERENCES.get(name, ("", "", ""))
        called = (function, exact, "integrate") if function else ()
        return [self.folder / f"{self._symbol(x)}.c" for x in (name, *called)]


def inputs_of(name: str, states: States) -> list[Rows]:
    """The arrays of the arguments of a function, by the first part of its name."""
    last = {"rnea": [states.v, states.a], "aba": [states.v, states.tau]}
    return [states.q, *last.get(name.partition("_")[0], [])]


def minv_cholesky(robot: Robot) -> Any:
    """M^-1 by the factorization of M, as an own function.

    Rows and columns are in the opposite order, from the leaves to the root, so that the factor has no more
    entries than M has (Featherstone, Rigid Body Dynamics Algorithms, section 6.5).
    """
    nv = robot.nv

    def inverse(robot: Any, q: Any) -> Any:
        """M^-1 by the LDL^T factorization of M."""
        return rbdgen.solve(robot.crba(q)[::-1, ::-1], np.eye(nv))[::-1, ::-1]

    outputs = {"M_inverse": ("1/(kg m^2)", nv, nv)}
    return rbdgen.function(inputs={}, outputs=outputs, name="minv_cholesky")(inverse)


@contextmanager
def generated(robot: Robot) -> Iterator[Generated]:
    """The C of a robot in a temporary folder."""
    with TemporaryDirectory(prefix="derivatives-") as place:
        functions = [*FUNCTIONS, minv_cholesky(robot)]
        folder = rbdgen.generate(robot, place, functions=functions, compiled=False, progress=False)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        made = Generated(folder, manifest)
        for name, (function, third, exact) in DIFFERENCES.items():
            text = TEMPLATES.get_template("differences.c.jinja").render(
                name=made._symbol(name),
                function=made._symbol(function),
                exact=made._symbol(exact),
                integrate=made._symbol("integrate"),
                third=third,
                nq=manifest["nq"],
                nv=manifest["nv"],
                step=STEP,
            )
            (folder / f"{made._symbol(name)}.c").write_text(text, encoding="utf-8")
        yield made
