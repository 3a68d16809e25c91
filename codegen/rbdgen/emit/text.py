"""Templates, which turn frozen contexts into the texts of files."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rbdgen.resources import template_root


def filled(template: str, **context: object) -> str:
    """The text of a template that is filled in with a context."""
    return _environment().get_template(template).render(context)


def copied(file: str) -> str:
    """The text of a file that lies among the templates and has nothing to fill in."""
    return (template_root() / file).read_text(encoding="utf-8")


def release_of(version: str) -> str:
    """The three numbers at the beginning of a version, which all build tools take for one: 0.2.0 of 0.2.0rc1.
    Numbers that are missing are 0.
    """
    found = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", version, re.ASCII)
    return ".".join(number or "0" for number in (found.groups() if found else ("0",) * 3))


@cache
def _environment() -> Environment:
    # No autoescape: the output is C, Python and Markdown. Text from a description has already become a
    # checked identifier or an escaped comment.
    return Environment(
        loader=FileSystemLoader(template_root()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
