"""A parser of arguments that reports errors in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from rbdgen.cli.mistakes import unrecognized
from rbdgen.errors import shortened

FAILED = 2
"""The exit status after an error."""


class Parser(argparse.ArgumentParser):
    """A parser that reports every error in one line, as rbdgen reports all its errors."""

    def __init__(self, prog: str, subject: str, description: str) -> None:
        layout, usage = argparse.RawDescriptionHelpFormatter, f"{prog} {subject}[options]"
        super().__init__(prog=prog, usage=usage, description=description, formatter_class=layout)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parses as `ArgumentParser` does, but refuses unknown words with a suggestion."""
        parsed, rest = self.parse_known_args(args, namespace)
        if rest:
            functions = getattr(parsed, "functions", None)
            self.error(unrecognized(rest, self._option_string_actions, functions))
        return parsed

    def error(self, message: str) -> NoReturn:
        said = shortened(" ".join(message.split()))
        end = f" {self.prog} --help shows all" if said.endswith("?") else f"; see {self.prog} --help"
        print(f"rbdgen: error: {said}{end}", file=sys.stderr)
        raise SystemExit(FAILED)
