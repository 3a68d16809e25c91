"""The commands that concern no robot, and their arguments: the cache, and completion in shells."""

from __future__ import annotations

import argparse

from rbdgen.cli.parser import Parser
from rbdgen.options import CACHE_SIZE


def cache_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen cache",
        "[clear] ",
        "Shows where builds are cached, and how much space they take.\n\n"
        "  rbdgen cache        print its folder, size and number of entries\n"
        "  rbdgen cache clear  remove all entries; loaded libraries stay loaded\n\n"
        "RBDGEN_CACHE names another folder. RBDGEN_CACHE_SIZE limits its size, such as '500 MB'\n"
        f"or 'unlimited' (default {CACHE_SIZE}): the least recently used entries are removed first.\n",
    )
    parser.add_argument("action", metavar="clear", nargs="?", choices=("clear",), help="remove all entries")
    return parser


def completion_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "rbdgen completion",
        "SHELL ",
        "Prints a script that completes commands, robots, options and names of functions:\n\n"
        "  bash   rbdgen completion bash >~/.local/share/bash-completion/completions/rbdgen\n"
        "  zsh    rbdgen completion zsh >DIR/_rbdgen, where DIR is one of $fpath\n"
        "  fish   rbdgen completion fish >~/.config/fish/completions/rbdgen.fish\n",
    )
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")
    return parser


def run_cache(parsed: argparse.Namespace) -> int:
    from rbdgen.cli import tables  # noqa: PLC0415
    from rbdgen.options import environment_cache_size  # noqa: PLC0415
    from rbdgen.toolchain.cache import user_cache_root  # noqa: PLC0415
    from rbdgen.toolchain.kept import clear, contents  # noqa: PLC0415

    console, _ = tables.consoles()
    root = user_cache_root()
    if parsed.action == "clear":
        told = tables.cleared_told(root, clear(root))
    else:
        told = tables.cache_told(root, contents(root), environment_cache_size())
    console.print(told, markup=False, highlight=False, soft_wrap=True)
    return 0
