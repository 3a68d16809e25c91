"""The command line."""

from rbdgen.cli.command import main

__all__ = ["main"]
