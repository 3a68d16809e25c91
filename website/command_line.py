"""The page of the command line, made from its parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from rbdgen.cli.parsers import PARSERS

NOTE: Final = "<!-- made by `python -m website.generate` from the parsers of the command line -->\n"


def page() -> str:
    """The text of the page."""
    parts = [
        "# Command line",
        NOTE,
        "`rbdgen ROBOT` writes code, and other commands begin with a word. `rbdgen COMMAND --help` prints\n"
        "the same as this page. An error is one line on standard error, with the exit status 2.",
    ]
    for name, parser_of in PARSERS.items():
        if name != "guide":
            parts += _command(parser_of())
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## `{parser.prog}` {{ #{parser.prog.replace(' ', '-')} }}"
    yield f"```\n{parser.format_usage().removeprefix('usage: ').strip()}\n```"
    if parser.description:
        yield f"```\n{parser.description.strip()}\n```"
    for group in parser._action_groups:
        if actions := [action for action in group._group_actions if action.help != argparse.SUPPRESS]:
            yield "\n".join([f"| {group.title} | |", "|---|---|", *map(_option, actions)])
            if group.description:
                yield _cell(group.description)


def _option(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else None
    if metavar is None and action.choices is not None:
        metavar = "{" + ",".join(map(str, action.choices)) + "}"
    value = "" if action.nargs == 0 else f" {metavar or action.dest.upper()}"
    shown = ", ".join(action.option_strings) + value if action.option_strings else str(metavar or action.dest)
    help_text = (action.help or "") % {**vars(action), "prog": ""} if action.help else ""
    return f"| `{shown.replace('|', '&#124;')}` | {_cell(help_text)} |"


def _cell(text: str) -> str:
    """A help text as Markdown: words that a pattern or a type would make markup stay as they are."""
    escaped = " ".join(text.split())
    for mark in ("\\", "`", "*", "_", "<", "[", "]"):
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped.replace("|", "&#124;")
