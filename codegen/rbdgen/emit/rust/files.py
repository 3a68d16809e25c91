"""The files of a crate that compiles the C of the folder and calls its functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.foreign import ForeignArgument, foreign_functions, nested
from rbdgen.emit.text import filled, release_of

RESERVED: Final = frozenset(
    """
    Self abstract as async await become box break const continue crate do dyn else enum extern false
    final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self
    static struct super trait true try type typeof unsafe unsized use virtual where while yield c into
    contacts frames joints
    """.split()  # noqa: SIM905  (a list would take a screen)
)
"""The keywords of Rust, and the modules of the crate."""

MACHINES: Final = {"arm-none-eabi-": "thumb", "riscv64-unknown-elf-": "riscv32"}
"""The beginning of Rust's name of a machine, by the prefix of its tools; other folders are for this one."""

NUMBERS: Final = {"double": "f64", "float": "f32"}

LOCK_FORMAT: Final = 3
"""The format of Cargo.lock, which newer versions of cargo keep."""


@dataclass(frozen=True)
class GoldenCall:
    """A golden state of a function: the texts of its arguments, and the expected results."""

    arguments: tuple[str, ...]
    results: tuple[tuple[str, str], ...]
    """The numbers of each output in row-major order, and the accepted error."""


def files(folder: Folder) -> dict[str, str]:
    """The crate, by path: its manifests beside the C, and its sources in a folder of their own."""
    number = NUMBERS[folder.options.real]
    functions = foreign_functions(folder, RESERVED)
    context = {
        "robot": folder.robot,
        "functions": functions,
        "real": number,
        "selftest": f"selftest/{folder.name}_selftest.c",
        "type": lambda argument: type_of(argument, number),
        "zero": lambda argument: type_of(argument, "0.0"),
        "release": crate_version(folder.robot.version),
        "lock": LOCK_FORMAT,
        "flags": list(folder.options.flags),
        "machine": MACHINES.get(folder.options.prefix, ""),
        "prefix": folder.options.prefix,
        "portable_flags": ["-O2", "-ffp-contract=off"],
        "joint_names": [text_of(joint.name) for joint in folder.facts.joints],
        "tests": list(zip(functions, map(_calls, folder.functions), strict=True)),
    }
    return {
        "Cargo.toml": filled("rust/Cargo.toml.jinja", **context),
        "Cargo.lock": filled("rust/Cargo.lock.jinja", **context),
        "rust/build.rs": filled("rust/build.rs.jinja", **context),
        "rust/lib.rs": filled("rust/lib.rs.jinja", **context),
        "rust/selftest.rs": filled("rust/selftest.rs.jinja", **context),
    }


def type_of(argument: ForeignArgument, number: str) -> str:
    """The type of an argument: a number, or nested arrays in row-major order.

    With the text of a number in place of a type, it is the value whose elements are all that number.
    """
    name = number
    for length in reversed(argument.shape):
        name = f"[{name}; {length}]"
    return name


def text_of(text: str) -> str:
    """A text as a literal of Rust, in ASCII."""
    plain = (c if c.isascii() and c.isprintable() and c not in '"\\' else f"\\u{{{ord(c):x}}}" for c in text)
    return f'"{"".join(plain)}"'


def crate_version(version: str) -> str:
    """The version of a crate, which has three numbers: 0.2.0 of 0.2.0rc1, and 1.2.0 of 1.2."""
    return ".".join(str(int(number)) for number in release_of(version).split("."))


def _calls(function: FolderFunction) -> list[GoldenCall]:
    signature = function.source.signature
    return [
        GoldenCall(
            tuple(
                ("" if not x.shape else "&") + nested(_numbers(array.rows), x.shape)
                for x, array in zip(signature.inputs, case.inputs, strict=True)
            ),
            tuple(
                (nested(_numbers(array.rows), (array.size,)), _plain(array.tolerance))
                for array in case.outputs
            ),
        )
        for case in function.tested.cases
    ]


def _numbers(rows: Sequence[str]) -> list[str]:
    """The numbers of rows of C literals."""
    return [_plain(literal) for row in rows for literal in row.split(", ")]


def _plain(literal: str) -> str:
    """A literal without the suffix of C's float; Rust reads it as a number of the type that it needs."""
    return literal.removesuffix("f")
