"""The command line in odd surroundings: variables, compilers, closed streams, small memories and disks.

Every command ends with status 0, or with status 2 and one line; a generated folder is always complete.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from support.robots import PATHS

from campaigns.guard import PYTHON, Case, said_well, tallied
from campaigns.tally import Tally

KINDS = ("variables", "compilers", "streams", "limits", "folders")
SIZE = 200
SMALL = 3

ROBOT = str(PATHS["double_pendulum"])

Setting = dict[str, str]

ODD = (
    "", " ", "\t", "/", ".", "..", "~", "~nosuchuser/x", "/nonexistent/x", "/dev/null", "/dev/full",
    "/proc/x", "x" * 5000, "a\nb",
    "é", "\udcff", "$HOME", "-x", "'", '"', "\\", "0", "-1", "1e9", "C", "xx_YY.UTF-9", "dumb", "%s",
    "{}", "/usr/../tmp", ":", ";",
)  # fmt: skip
VARIABLES = (
    "HOME", "RBDGEN_CACHE", "XDG_CACHE_HOME", "TMPDIR", "TERM", "LANG", "LC_ALL", "COLUMNS", "LINES",
    "CC", "CFLAGS", "LDFLAGS",
    "PATH", "C_INCLUDE_PATH", "CPATH", "LIBRARY_PATH", "NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONWARNINGS", "PYTHONOPTIMIZE", "PYTHONHASHSEED", "OMP_NUM_THREADS", "USER", "LOGNAME",
    "SOURCE_DATE_EPOCH", "TZ",
    "GCC_EXEC_PREFIX", "COMPILER_PATH", "DEPENDENCIES_OUTPUT", "GCC_COLORS", "MALLOC_PERTURB_",
    "TTY_COMPATIBLE",
)  # fmt: skip

OF_PYTHON_ITSELF = {"PYTHONIOENCODING", "PYTHONUTF8", "PYTHONHASHSEED"}
"""Variables whose wrong values end Python itself before rbdgen starts."""

ASKED = '#!/bin/sh\ncase "$*" in *-dM*) '
"""The beginning of a script that acts as a compiler: what follows is done if its macros are requested."""

COMPILERS: Mapping[str, str] = {
    "fails": "#!/bin/sh\nexit 1",
    "fails without end": "#!/bin/sh\nseq 1 20000 >&2; exit 3",
    "is killed": "#!/bin/sh\nkill -9 $$",
    "crashes": "#!/bin/sh\nkill -SEGV $$",
    "says nothing": "#!/bin/sh\nexit 0",
    "prints what is no text": "#!/bin/sh\nprintf '\\377\\376\\200#define __GNUC__ 12\\n'",
    "prints macros that are no text": ASKED
    + 'gcc "$@"; printf "#define X \\377\\n";; *) exec gcc "$@";; esac',
    "has no version": ASKED + 'echo "#define __GNUC__ 12";; *) exec gcc "$@";; esac',
    "has half a macro": ASKED + 'printf "#define\\n#define __GNUC__\\n#define  x";; *) exec gcc "$@";; esac',
    "complains in what is no text": ASKED + 'exec gcc "$@";; *) printf "error: \\377\\n" >&2; exit 1;; esac',
    "dies when compiling": ASKED + 'exec gcc "$@";; *) kill -9 $$;; esac',
    "writes no object": ASKED + 'exec gcc "$@";; *) exit 0;; esac',
    "writes an empty object": ASKED + 'exec gcc "$@";; esac\nfor x; do last=$x; done\n: > "$last"',
    "does not link": '#!/bin/sh\ncase "$*" in *-shared*) exit 1;; *) exec gcc "$@";; esac',
    "links nothing": '#!/bin/sh\ncase "$*" in *-shared*) exit 0;; *) exec gcc "$@";; esac',
    "warns of everything": '#!/bin/sh\necho "warning: x" >&2\nexec gcc "$@"',
    "is no program": "\x00\x01\x02",
    "has no interpreter": "#!/nonexistent/sh\n",
    "is empty": "",
}
WORDS = ("gcc '", "gcc \\", '"', "nosuchcompiler", "gcc --nosuchflag", "./mycc", "gcc -m32 -nosuch",
"ls", "cat", "false", "true", "/",
         "''", "gcc\0x", "gcc ''", "gcc -o x", "python3", "gcc -E", "gcc -fsyntax-only", "gcc -v",
         "gcc -w", "gcc -### ")  # fmt: skip


def run(seed: int, size: int) -> Tally:
    """Runs `size` commands; 200 of them include all odd compilers."""
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        return tallied(_cases(random.Random(seed), size, Path(scratch)))


def _cases(rng: random.Random, size: int, scratch: Path) -> Iterator[Case]:
    compilers: list[tuple[str, str]] = [("script", name) for name in COMPILERS] + [
        ("words", x) for x in WORDS
    ]
    rng.shuffle(compilers)
    others = list(OTHERS)
    rng.shuffle(others)
    for k in range(size):
        number = rng.getrandbits(32)
        if k % 3 == 0 and compilers:
            kind, compiler = compilers.pop()
            yield Case(
                f"a compiler that {compiler!r:.60}", partial(_with_compiler, scratch, k, kind, compiler)
            )
        elif k % 3 == 1:
            name = others[k // 3 % len(others)]
            yield Case(name, partial(OTHERS[name], scratch / f"{k}"))
        else:
            yield Case(f"variables {number}", partial(_with_variables, scratch / f"{k}", number))


def _command(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "rbdgen.cli", *arguments]


GENERATE = ("-f", "gravity", "--no-compile", "-o", "out")


def _ended(
    folder: Path,
    command: list[str],
    environment: Setting | None = None,
    checked: bool = True,
    silent: bool = False,
) -> str | None:
    """Runs a command in a folder, and says what is wrong with its end or with the files that it leaves.

    If `checked`, the folder that it generates must be complete. If `silent`, the command cannot write its
    line of error, and a status other than 0 is enough.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "RBDGEN_CACHE": str(folder / "cache"), **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    errors = done.stderr.decode("utf-8", "replace")
    made = folder / "out/double_pendulum"
    if checked and made.exists() and not (made / "manifest.json").is_file():
        return "half a folder is left"
    if checked and done.returncode == 0 and "-o" in command and not made.is_dir():
        return "status 0, yet no folder"
    if silent and not errors and done.returncode > 0:
        return None
    return said_well(done.returncode, errors)


def _with_variables(folder: Path, number: int) -> str | None:
    rng = random.Random(number)
    names = rng.sample(VARIABLES, rng.choice((1, 1, 2, 5)))
    setting = {name: rng.choice(ODD) for name in names if name not in OF_PYTHON_ITSELF}
    setting |= {"PYTHONUTF8": rng.choice("01")} if rng.random() < 0.2 else {}
    command = rng.choice((("list",), ("inspect", ROBOT), (ROBOT, *GENERATE), (ROBOT, *GENERATE)))
    problem = _ended(folder, _command(*command), setting)
    shutil.rmtree(folder, ignore_errors=True)
    return None if problem is None else f"{command[0]:.9} {setting!r:.200}: {problem}"


def _with_compiler(scratch: Path, k: int, kind: str, compiler: str) -> str | None:
    """Builds with a compiler that is a script, or with these words in CC."""
    folder = scratch / str(k)
    folder.mkdir()
    command = compiler.replace("\0", "")
    if kind == "script":
        path = folder / "compiler"
        path.write_bytes(COMPILERS[compiler].encode("latin-1"))
        path.chmod(0o755)
        command = str(path)
    elif compiler == "./mycc":
        (folder / "mycc").symlink_to(shutil.which("gcc") or "gcc")
    problem = _ended(folder, _command(ROBOT, "-f", "gravity", "-o", "out"), {"CC": command})
    right = compiler in ("./mycc", "warns of everything")
    if problem is None and right and not (folder / "out/double_pendulum").is_dir():
        problem = "refused, though it compiles"
    shutil.rmtree(folder)
    return problem


# ---- streams, limits and folders


def _closed(streams: str, *arguments: str) -> Callable[[Path], str | None]:
    """Runs a command without some standard streams; Python's own status 1 is allowed if it cannot write."""
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", *_command(*arguments)]
    return lambda folder: _ended(folder, command, silent="2>&-" in streams)


def _limited(limit: str, *arguments: str) -> Callable[[Path], str | None]:
    """Runs a command under a limit of the shell; rbdgen is not at fault if the process cannot start."""

    def tried(folder: Path) -> str | None:
        (folder / "out").mkdir(parents=True)
        started = subprocess.run(
            ["sh", "-c", f'{limit}; exec "$@"', "sh", *_command("--version")],
            capture_output=True,
            check=False,
        )
        if started.returncode != 0:
            return None
        return _ended(folder, ["sh", "-c", f'{limit}; exec "$@"', "sh", *_command(*arguments)])

    return tried


def _without_home(folder: Path) -> str | None:
    """Runs without HOME and without RBDGEN_CACHE, so that the home folder comes from the user database."""
    return _ended(folder, ["env", "-u", "HOME", "-u", "RBDGEN_CACHE", *_command(ROBOT, *GENERATE)])


def _unknown_user(folder: Path) -> str | None:
    """Runs as a user without a name or a home folder, as in containers."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return None
    folder.mkdir(parents=True)
    os.chown(folder, 54321, 54321)
    readable = subprocess.run(
        ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", *_command("--version")],
        capture_output=True,
        check=False,
    )
    if readable.returncode != 0:
        return None
    prefix = [
        "env",
        "-u",
        "HOME",
        "-u",
        "RBDGEN_CACHE",
        "setpriv",
        "--reuid=54321",
        "--regid=54321",
        "--clear-groups",
    ]
    return _ended(folder, [*prefix, *_command(ROBOT, *GENERATE)])


def _mounted(options: str) -> Callable[[Path], str | None]:
    """Generates to a separate disk, mounted with these options in a separate name space."""

    def tried(folder: Path) -> str | None:
        if os.geteuid() != 0 or not shutil.which("unshare"):
            return None
        (folder / "out").mkdir(parents=True)
        mount = f'mount -t tmpfs -o {options} none out 2>/dev/null || exit 0; exec "$@"'
        return _ended(
            folder, ["unshare", "-m", "sh", "-c", mount, "sh", *_command(ROBOT, *GENERATE)], checked=False
        )

    return tried


def _interrupted(folder: Path) -> str | None:
    """Sends Ctrl-C while a build runs."""
    folder.mkdir(parents=True)
    process = subprocess.Popen(
        _command(ROBOT, "-o", "out"),
        cwd=folder,
        env={**os.environ, "RBDGEN_CACHE": str(folder / "cache")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    told = process.stderr.readline()  # the first step is done
    os.kill(process.pid, signal.SIGINT)
    told += process.communicate()[1]
    if "Traceback" in told or process.returncode not in (0, 130):
        return f"status {process.returncode}: {told[-300:]!r}"
    made = folder / "out/double_pendulum"
    return "half a folder is left" if made.exists() and not (made / "manifest.json").is_file() else None


OTHERS: Mapping[str, Callable[[Path], str | None]] = {
    "no standard output": _closed(">&-", "list"),
    "no standard output, inspect": _closed(">&-", "inspect", ROBOT),
    "no standard output, generate": _closed(">&-", ROBOT, *GENERATE),
    "no standard input": _closed("<&-", ROBOT, *GENERATE),
    "no standard error": _closed("2>&-", ROBOT, *GENERATE),
    "no stream at all": _closed("<&- >&- 2>&-", ROBOT, *GENERATE),
    "a full disk for output": _closed(">/dev/full", "list"),
    "a full disk for inspect": _closed(">/dev/full", "inspect", ROBOT),
    "a reader that goes": lambda folder: _ended(
        folder, ["sh", "-c", '("$@"; echo $? > status) | true', "sh", *_command("list")]
    ),
    "256 MB of memory": _limited("ulimit -v 262144", ROBOT, *GENERATE),
    "512 MB of memory": _limited("ulimit -v 524288", ROBOT, *GENERATE),
    "1 GB of memory": _limited("ulimit -v 1048576", ROBOT, "-f", "gravity", "-o", "out"),
    "20 open files": _limited("ulimit -n 20", ROBOT, *GENERATE),
    "files of 4 KB": _limited("ulimit -f 8", ROBOT, *GENERATE),
    "files of none": _limited("ulimit -f 0", ROBOT, *GENERATE),
    "a small stack": _limited("ulimit -s 256", ROBOT, *GENERATE),
    "no HOME": _without_home,
    "an unknown user": _unknown_user,
    "64 KB of disk": _mounted("size=64k"),
    "a disk to read only": _mounted("ro"),
    "a disk of few files": _mounted("nr_inodes=9"),
    "Ctrl-C": _interrupted,
}
