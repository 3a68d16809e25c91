"""Figures of a compiled object: bytes of code and constants, and bytes of stack."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

_ALLOCATED: Final = 0x2  # SHF_ALLOC
_WRITABLE: Final = 0x1  # SHF_WRITE
_PROGRAM: Final = 1  # SHT_PROGBITS
_DEEPEST: Final = 3


def object_bytes(path: Path) -> int | None:
    """Bytes of code and read-only data of a 64-bit ELF object; None for another format.

    Unwind tables do not count, because they are not needed at run time.
    """
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + k * size) for k in range(count)]
    names = headers[names_index][4]
    total = 0
    for name, kind, flags, _, _, length in headers:
        text = data[names + name : data.index(b"\0", names + name)]
        if kind == _PROGRAM and flags & _ALLOCATED and not flags & _WRITABLE and text != b".eh_frame":
            total += length
    return total


def stack_bytes(path: Path) -> int | None:
    """The stack of a call, from the frames that -fstack-usage reports in NAME.su; None without a report.

    It is the sum of the three largest frames, because emitted code calls at most three levels deep: a
    function calls its straight lines, and these call their parts.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return None
    frames = sorted(int(line.split("\t")[1]) for line in text.splitlines())
    return sum(frames[-_DEEPEST:]) if frames else None
