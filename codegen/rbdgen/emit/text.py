"""Templates filled in: frozen contexts become the texts of files."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rbdgen.resources import template_root


def filled(template: str, **context: object) -> str:
    """The text of a template."""
    return _environment().get_template(template).render(context)


def copied(file: str) -> str:
    """The text of a file that stands among the templates and holds nothing to fill in."""
    return (template_root() / file).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    # No autoescape: the output is C, Python and Markdown. What comes from a description was made a checked
    # identifier or an escaped comment before it got here.
    return Environment(
        loader=FileSystemLoader(template_root()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
