"""What the embedded tests compile: the hand-written pendulum, and the functions of bundled robots."""

from __future__ import annotations

from pathlib import Path

import jinja2
from embedded.board import HERE, Subject

from rbdgen.resources import template_root


def pendulum(real: str, folder: Path, source: Path | None = None) -> Subject:
    """The hand-written function with the built-in sine and cosine; `source`: another text of it."""
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
