"""Templates, which turn frozen contexts into the texts of files."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rbdgen.resources import template_root


def filled(template: str, **context: object) -> str:
    """The text of a template that is filled in with a context."""
    return _environment().get_template(template).render(context)


def copied(file: str) -> str:
    """The text of a file that lies among the templates and has nothing to fill in."""
    return (template_root() / file).read_text(encoding="utf-8")


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
