"""Writes shell scripts that complete words of the command line, from the parsers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rbdgen.description.source import bundled_robots
from rbdgen.emit.backends import ON_REQUEST
from rbdgen.functions.table import ALL
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.toolchain.batch import ARCHITECTURES
from rbdgen.toolchain.targets import TARGETS

Parsers = Mapping[str, Callable[[], argparse.ArgumentParser]]

GENERATE = "generate"
"""The name in this module of `rbdgen ROBOT`, a command that has no name on the command line."""


@dataclass(frozen=True)
class Option:
    """An option of a command."""

    names: tuple[str, ...]
    help: str
    values: tuple[str, ...] | None  # the values it accepts, empty for any text; None for a flag
    listed: bool = False  # whether the value is a list with commas


def options_of(parser: argparse.ArgumentParser, command: str) -> list[Option]:
    """The options of a command, in the order of its help."""
    return [_option(action, command) for action in parser._actions if action.option_strings]


def _option(action: argparse.Action, command: str) -> Option:
    values: tuple[str, ...] | None = tuple(map(str, action.choices or ()))
    listed = action.dest == "functions"
    if listed:
        values = tuple(OPERATIONS if command == "inertia" else ALL)
    elif action.dest == "target":
        values = tuple(TARGETS)
    elif action.dest == "emit":
        values = tuple(ON_REQUEST)
    elif action.dest == "arch":
        values = tuple(ARCHITECTURES)
    elif action.option_strings == ["--counts"]:
        values = tuple(bundled_robots())
    elif action.nargs == 0:
        values = None
    text = re.sub(r"\s+", " ", action.help or "").replace("%%", "%")
    return Option(tuple(action.option_strings), text, values, listed)


def script(shell: str, commands: Sequence[str], parsers: Parsers) -> str:
    """The script for a shell: bash, zsh or fish."""
    named = {name: options_of(parsers[name](), name) for name in (*commands, GENERATE)}
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands, named)


def _words(options: Iterable[Option]) -> str:
    return " ".join(name for option in options for name in option.names)


def _bash(commands: Sequence[str], named: Mapping[str, list[Option]]) -> str:
    robots = " ".join(bundled_robots())
    lines = [
        "# Completion of rbdgen in bash; written by: rbdgen completion bash",
        "_rbdgen() {",
        '    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
        f"    local command={GENERATE} words= before=",
        f'    case "${{COMP_WORDS[1]}}" in {"|".join(commands)})',
        '        ((COMP_CWORD > 1)) && command="${COMP_WORDS[1]}";;',
        "    esac",
        '    case "$command $previous" in',
    ]
    for command, options in named.items():
        for option in options:
            if not option.values:
                continue
            pattern = "|".join(f'"{command} {name}"' for name in option.names)
            body = f'words="{" ".join(option.values)}"'
            if option.listed:
                body += '; [[ $current == *,* ]] && before="${current%,*},"'
            lines.append(f"        {pattern}) {body};;")
    lines += [
        "    esac",
        '    if [[ -z $words ]]; then case "$command" in',
        *(f'        {command}) words="{_words(options)}";;' for command, options in named.items()),
        "    esac",
        "        if [[ $current != -* ]]; then",
        f'            words="{robots}"; ((COMP_CWORD == 1)) && words="{" ".join(commands)} $words"',
        '            [[ $command == completion ]] && words="bash zsh fish"',
        '            [[ $command == cache ]] && words="clear"',
        "        fi",
        "    fi",
        '    COMPREPLY=($(compgen -P "$before" -W "$words" -- "${current##*,}"))',
        "}",
        "complete -o default -F _rbdgen rbdgen",
    ]
    return "\n".join(lines) + "\n"


def _zsh(commands: Sequence[str], named: Mapping[str, list[Option]]) -> str:
    robots = " ".join(bundled_robots())
    lines = [
        "#compdef rbdgen",
        "# Completion of rbdgen in zsh; written by: rbdgen completion zsh",
        "_rbdgen() {",
        f"    local command={GENERATE}",
        f"    case $words[2] in {'|'.join(commands)}) ((CURRENT > 2)) && command=$words[2];; esac",
        "    local -a first",
        f"    first=({robots})",
        f"    ((CURRENT == 2)) && first+=({' '.join(commands)})",
        "    [[ $command == completion ]] && first=(bash zsh fish)",
        "    [[ $command == cache ]] && first=(clear)",
        "    case $command in",
    ]
    for command, options in named.items():
        specs = [_zsh_spec(option, name) for option in options for name in option.names]
        lines += [f"        {command}) _arguments -s \\", *(f"            {spec} \\" for spec in specs)]
        lines.append('            \'*: :_alternative "words:: compadd -a first" "files:: _files"\';;')
    return "\n".join([*lines, "    esac", "}", '_rbdgen "$@"']) + "\n"


def _zsh_spec(option: Option, name: str) -> str:
    told = re.sub(r"([\[\]:])", r"\\\1", option.help)
    spec = f"*{name}[{told}]"
    if option.values is not None:
        values = " ".join(option.values)
        way = f"_values -s , value {values}" if option.listed else f"({values})" if values else "_files"
        spec += f":value:{way}"
    return "'" + spec.replace("'", "'\\''") + "'"


def _fish(commands: Sequence[str], named: Mapping[str, list[Option]]) -> str:
    seen = f"__fish_seen_subcommand_from {' '.join(commands)}"
    lines = [
        "# Completion of rbdgen in fish; written by: rbdgen completion fish",
        f"complete -c rbdgen -n '__fish_is_first_token' -a '{' '.join([*commands, *bundled_robots()])}'",
        "complete -c rbdgen -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'",
        "complete -c rbdgen -n '__fish_seen_subcommand_from cache' -f -a clear",
    ]
    for command, options in named.items():
        when = f"not {seen}" if command == GENERATE else f"__fish_seen_subcommand_from {command}"
        for option in options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            given = "" if option.values is None else " -r"
            if option.values:
                separated = "(__fish_append , {})" if option.listed else "{}"
                given += f" -f -a '{separated.format(' '.join(option.values))}'"
            told = option.help.replace("\\", "\\\\").replace("'", "\\'")
            lines.append(f"complete -c rbdgen -n '{when}' {names}{given} -d '{told}'")
    return "\n".join(lines) + "\n"
