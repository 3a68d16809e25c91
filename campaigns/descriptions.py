"""URDFs whose trees, numbers, names or bytes are damaged.

Each file gives a sound robot, or is refused in one clear line. Every file is built with both bases, and
shown by `rbdgen inspect`.
"""

from __future__ import annotations

import io
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

from support.robots import BASES
from support.urdf_judge import LONGEST, Verdict, judge
from support.urdf_mutation import mutated

from campaigns.tally import Tally, total
from rbdgen.cli.command import main
from rbdgen.cli.parser import FAILED

KINDS = ("trees", "numbers", "names", "bytes")
SIZE = 5000
SMALL = 100

CORPUS = sorted((Path(__file__).parents[1] / "tests" / "fuzz" / "corpus").glob("*.urdf"))


def run(seed: int, size: int) -> Tally:
    return total(run_case(seed, number) for number in range(size))


def run_case(seed: int, number: int) -> Tally:
    """Tries one file; the note of a failure has its seed and number."""
    data = damaged(seed, number)
    try:
        verdict = judge(data)
        inspect(data, verdict)
    except AssertionError as error:
        return Tally(tried=1, wrong=1, notes=(_note(seed, number, error),))
    except Exception as error:  # any exception that is not an RbdgenError is a failure
        return Tally(tried=1, crashed=1, notes=(_note(seed, number, error),))
    return Tally(tried=1)


def damaged(seed: int, number: int) -> bytes:
    """A damaged file of the corpus, which is the same for the same seed and number."""
    random = Random(f"{seed} {number}")
    data = random.choice(CORPUS).read_bytes()
    for _ in range(random.choice((1, 1, 2, 4))):
        data = mutated(data, random)
    return data


def inspect(data: bytes, verdict: Verdict) -> None:
    """Asserts that `rbdgen inspect` accepts or refuses the file as the reader did."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.urdf"
        path.write_bytes(data)
        statuses = {_inspected(path, base) for base in BASES}
    assert ("robot" if 0 in statuses else "refused") == verdict


def _inspected(path: Path, base: str) -> int:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["inspect", str(path), "--base", base])
        sys.stdout.flush()
        sys.stderr.flush()
    printed, errors = (stream.buffer.getvalue().decode() for stream in (out, err))
    if status == 0:
        assert printed
        assert not errors, errors
        assert all(line.isprintable() for line in printed.split("\n")), f"not printable: {printed[:200]!r}"
    else:
        assert status == FAILED
        assert not printed, printed
        assert errors.startswith(f"rbdgen: error: {path}"), errors
        assert errors.removesuffix("\n").isprintable(), f"not printable: {errors!r}"
        assert len(errors) <= LONGEST + len(f"rbdgen: error: {path}\n")
    return status


def _note(seed: int, number: int, error: Exception) -> str:
    words = f"{type(error).__name__}: {ascii(str(error))[:200]}"
    return f"--only descriptions --seed {seed} --case {number}: {words}"
