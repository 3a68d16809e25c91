"""Checks C by the rules of MISRA C:2012 in cppcheck's addon."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from embedded.board import checked

from rbdgen.resources import template_root

ADVISORY = frozenset(
    (
        *("1.2", "2.3", "2.4", "2.5", "2.6", "2.7", "4.2", "5.9", "8.7", "8.9", "8.11", "8.13", "10.5"),
        *("11.4", "11.5", "12.1", "12.3", "12.4", "13.3", "13.4", "15.1", "15.4", "15.5", "17.5", "17.8"),
        *("18.4", "18.5", "19.2", "20.1", "20.5", "21.12"),
    )
)
"""The advisory rules; all others are required or mandatory."""

RECORD = template_root() / "project" / "MISRA.md"
"""The record of deviations that every folder of portable C has."""


def deviations(category: str = "required") -> dict[str, str]:
    """The recorded deviations from rules of a category, each with the reason."""
    rows = re.findall(r"^\| ([\d.]+) \| (\w+) \| .* \| (.*) \|$", RECORD.read_text(), re.MULTILINE)
    return {rule: reason for rule, found, reason in rows if found == category}


def broken_rules(
    sources: Sequence[Path], folders: Sequence[Path], defines: Sequence[str] = (), *, advisory: bool = False
) -> dict[str, set[str]]:
    """The required rules, or the advisory ones, that sources or their headers in `folders` break, with the
    places `file:line`.

    System headers are not read, as cppcheck knows their functions.
    """
    broken: dict[str, set[str]] = {}
    command = [
        *("cppcheck", "--std=c99", "--platform=arm32-wchar_t4", "--enable=style", "--addon=misra", "--quiet"),
        *("--template={id} {file}:{line}", *(f"-I{folder}" for folder in folders), *defines),
    ]
    # cppcheck runs its addon by the program python3, and reports on the standard error.
    report = checked(["sh", "-c", '"$@" 2>&1', "sh", *command, *sources])
    for number, place in re.findall(r"^misra-c2012-([0-9.]+) (.*)$", report, re.MULTILINE):
        if (number in ADVISORY) == advisory:
            broken.setdefault(number, set()).add(place)
    failures = re.findall(r"^(?!misra-c2012-)\w*(?:Error|error|Failure|failed).*$", report, re.MULTILINE)
    assert not failures, failures
    return broken
