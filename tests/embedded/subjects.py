"""The sources that embedded tests compile: the hand-written pendulum, and the functions of bundled robots."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from embedded.board import HERE, Subject

from rbdgen.model.build import Base
from rbdgen.options import Options
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.robot import load_robot
from rbdgen.resources import robot_root, template_root
from rbdgen.runtime.configuration import Manifold
from rbdgen.signature import SizedArgument


def pendulum(real: str, folder: Path, source: Path | None = None) -> Subject:
    """The hand-written function with the built-in sine and cosine, or another `source` of it."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_root()), undefined=jinja2.StrictUndefined
    )
    sincos = environment.get_template("c/sincos.h.jinja")
    (folder / "pendulum_sincos.h").write_text(
        sincos.render(prefix="pendulum", real=real, fallback=False, vector=False, width=1, count=2)
    )
    return Subject(
        function="pendulum_rnea",
        real=real,
        inputs=(2, 2, 2),
        outputs=(2,),
        sources=(source or HERE / "pendulum.c",),
        folders=(folder, HERE),
        includes='#include "pendulum.h"',
    )


@dataclass(frozen=True)
class Product:
    """A generated folder and its manifest."""

    folder: Path
    manifest: dict[str, Any]

    def subject(self, function: str) -> Subject:
        """The subject of one of the product's functions."""
        name, facts = self.manifest["name"], self.manifest["functions"][function]
        sizes = {kind: tuple(prod(x["shape"]) for x in facts[kind]) for kind in ("inputs", "outputs")}
        return Subject(
            function=facts["symbol"],
            real=self.manifest["real"],
            inputs=sizes["inputs"],
            outputs=sizes["outputs"],
            sources=(self.folder / facts["source"],),
            folders=(self.folder,),
            includes=f'#include "{name}.h"',
        )

    def states(self, function: str, count: int) -> np.ndarray:
        """Random inputs (count, size) of a function, which are exact in float."""
        rows = self.manifest["functions"][function]["inputs"]
        inputs = [SizedArgument(**{**row, "shape": tuple(row["shape"])}) for row in rows]
        manifold = Manifold.of(self.manifest)
        drawn = manifold.random_inputs(inputs, np.random.default_rng(2), (count,))
        columns = [values.reshape(count, -1) for values in drawn.values()]
        return np.hstack(columns).astype(np.float32).astype(np.float64)


def generated(robot: str, base: Base, functions: tuple[str, ...], folder: Path, **options: Any) -> Product:
    """The folder of C that rbdgen writes for a bundled robot, without a Python package."""
    made = generate(
        load_robot(robot_root() / f"{robot}.urdf", base),
        Options.of(functions=functions, **options),
        folder,
        compiled=False,
    )
    return Product(made.folder, made.manifest)
