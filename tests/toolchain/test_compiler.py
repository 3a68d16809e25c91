"""Compilers are found and identified, flags are checked, failures take one line, and no process remains."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from rbdgen.errors import BuildError
from rbdgen.figures.objects import object_bytes, stack_bytes
from rbdgen.toolchain.compiler import (
    Compilation,
    Compiler,
    Processes,
    check_flags,
    compile_all,
    compilers_named,
    find_compiler,
    find_compilers,
    link,
)
from rbdgen.toolchain.watch import FunctionsWatched, Watch

FAMILIES = [family for family in ("gcc", "clang") if shutil.which(family)]


@pytest.mark.parametrize("family", FAMILIES)
def test_identified(family: str) -> None:
    compiler = find_compiler(family)
    assert compiler.family == family
    assert compiler.version[0].isdigit() or "clang" in compiler.version.lower()
    assert find_compiler(f"env {family}").family == family


def test_default_is_the_first_there_is() -> None:
    assert find_compiler().command == find_compiler("").command
    assert find_compiler().command[0] in ("cc", "gcc", "clang")


@pytest.mark.parametrize("family", FAMILIES)
def test_named_compilers(family: str) -> None:
    """A name finds its compiler whatever the environment names; the environment's, if it is of that
    family."""
    for command in (None, *FAMILIES):
        found, other = compilers_named(family, command)
        assert (found.family, other) == (family, None)
    assert compilers_named(family, f"env {family}")[0].command[1:] == (family,)
    assert compilers_named(None, family) == (find_compiler(family), None)


@pytest.mark.parametrize("family", FAMILIES)
def test_auto_takes_all_families_there_are(
    family: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, other = compilers_named("auto", family)
    assert first == find_compiler(family)
    assert {first.family, *([other.family] if other else [])} == set(FAMILIES)
    path = shutil.which(family)
    assert path is not None
    (tmp_path / "cc").symlink_to(path)
    (tmp_path / family).symlink_to(path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compilers_named("auto", None) == (find_compiler("cc"), None)
    (missing,) = {"gcc", "clang"} - {family}
    with pytest.raises(BuildError) as caught:
        compilers_named(missing, None)
    assert str(caught.value) == f"the C compiler '{missing}' is not there; install it (apt install {missing})"
    (tmp_path / missing).symlink_to(path)  # as gcc is clang on macOS
    assert list(find_compilers()) == [family]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(BuildError, match="no C compiler found; install one"):
        compilers_named("auto", None)


def test_fingerprint_tells_flags_that_matter() -> None:
    compiler = find_compiler()
    assert compiler.fingerprint(["-O2"]) == compiler.fingerprint(["-O2"])
    assert compiler.fingerprint(["-O2"]) != compiler.fingerprint(["-O0"])


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError) as caught:
        find_compiler()
    assert str(caught.value) == (
        "no C compiler found; install one (apt install gcc python3-dev) or name one in CC, "
        "or only write the C by --no-compile"
    )
    with pytest.raises(BuildError, match="the C compiler 'gcc-99' is not there; install one"):
        find_compiler("gcc-99")


def test_not_a_compiler() -> None:
    with pytest.raises(BuildError, match="'true' is neither gcc nor clang; name one of them in CC"):
        find_compiler("true")
    with pytest.raises(BuildError, match=r"'false .*' failed: no message; name another compiler"):
        find_compiler("false")


@pytest.mark.parametrize("flag", ["-Ofast", "-ffast-math"])
def test_flags_that_change_results_are_refused(flag: str) -> None:
    check_flags(["-O3", "-ffp-contract=fast"])
    with pytest.raises(BuildError, match=f"the flag {flag} changes results beyond rounding"):
        check_flags(["-O2", flag])


@pytest.mark.parametrize("family", FAMILIES)
def test_objects_with_their_figures(family: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("double use(double *); double a(void) { double x[100]; return use(x); }")
    (tmp_path / "b.c").write_text("const int table[25] = {1}; int b(int x) { return x; }")
    flags = ("-O2", "-fstack-usage")
    heard: list[str] = []

    class Heard(Watch):
        def begins(self, function: str) -> None:
            heard.append(f"begins {function}")

        def ends(self, function: str, seconds: float) -> None:
            heard.append(f"ends {function}")

    seconds = compile_all(
        find_compiler(family),
        [Compilation("a.c", "a.o", flags), Compilation("b.c", "b.o", flags)],
        tmp_path,
        2,
        FunctionsWatched(Heard(), {"a.o": "both", "b.o": "both"}),
    )
    assert heard == ["begins both", "ends both"]
    assert seconds.keys() == {"a.c", "b.c"}
    assert 800 <= (stack_bytes(tmp_path / "a.su") or 0) < 900
    assert stack_bytes(tmp_path / "none.su") is None
    frames = enumerate((96, 16, 512, 64, 32))  # a function, its lines, their parts
    (tmp_path / "c.su").write_text("".join(f"c.c:{k}:1:f{k}\t{bytes}\tstatic\n" for k, bytes in frames))
    assert stack_bytes(tmp_path / "c.su") == 512 + 96 + 64
    assert 100 < (object_bytes(tmp_path / "b.o") or 0) < 120
    (tmp_path / "other.o").write_bytes(b"\xcf\xfa\xed\xfe")
    assert object_bytes(tmp_path / "other.o") is None


def test_the_first_error_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int f(void)\n{\n    return nonsense;\n}\n")
    with pytest.raises(
        BuildError, match=r"bad\.c: '.*' failed with status 1: bad\.c:3:12: error: .*nonsense"
    ) as caught:
        compile_all(find_compiler(), [Compilation("bad.c", "bad.o", ())], tmp_path, 2)
    assert "\n" not in str(caught.value)


def test_the_linker_refuses(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"m\.so: '.*' failed with status 1: .*none\.o"):
        link(find_compiler(), ["none.o"], "m.so", tmp_path, ())


def slow_compiler(folder: Path) -> Compiler:
    """A compiler that takes an hour for sources named slow, in a child process, and fails for others."""
    script = folder / "cc.sh"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *slow*) echo $$ >> pids; sleep 3600 & echo $! >> pids; wait;; esac\nexit 1\n'
    )
    script.chmod(0o755)
    return Compiler((str(script),), "gcc", "0")


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(pids: Path) -> bool:
    deadline = time.monotonic() + 600
    numbers = [int(word) for word in pids.read_text().split()]
    while time.monotonic() < deadline:
        if not any(running(pid) for pid in numbers):
            return True
        time.sleep(0.05)
    return False


def test_a_failure_ends_the_others(tmp_path: Path) -> None:
    compiler = slow_compiler(tmp_path)
    jobs = [Compilation("slow.c", "slow.o", ()), Compilation("bad.c", "bad.o", ())]
    with pytest.raises(BuildError, match=r"bad\.c: .* status 1: no message"):
        compile_all(compiler, [*jobs, *jobs], tmp_path, 2)
    if (tmp_path / "pids").exists():
        assert gone(tmp_path / "pids")


def test_ctrl_c_ends_the_compilers(tmp_path: Path) -> None:
    compiler = slow_compiler(tmp_path)
    program = textwrap.dedent(f"""
        import os, signal, threading, time
        from pathlib import Path
        from rbdgen.toolchain.compiler import Compilation, Compiler, compile_all
        signal.signal(signal.SIGINT, signal.default_int_handler)  # who started the tests may ignore it
        folder = Path({str(tmp_path)!r})
        def interrupt():
            while not (folder / "pids").exists() or len((folder / "pids").read_text().split()) < 2:
                time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        compiler = Compiler({compiler.command!r}, "gcc", "0")
        try:
            compile_all(compiler, [Compilation("slow.c", "slow.o", ())], folder, 1)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted\n"
    assert gone(tmp_path / "pids")


def test_nothing_starts_after_the_end(tmp_path: Path) -> None:
    processes = Processes()
    processes.stop()
    with pytest.raises(BuildError, match="not compiled, another file failed"):
        processes.run(["true"], tmp_path, "a.c")


@pytest.mark.parametrize("command", ["gcc '", "gcc \\"])
def test_words_that_no_shell_could_read(command: str) -> None:
    with pytest.raises(BuildError, match=r"CC=gcc .: no .*; write it as in a shell"):
        find_compiler(command)


def script(folder: Path, lines: str) -> Path:
    path = folder / "mycc"
    path.write_bytes(b"#!/bin/sh\n" + lines.encode("latin-1"))
    path.chmod(0o755)
    return path


def test_macros_of_no_known_encoding(tmp_path: Path) -> None:
    macros = script(tmp_path, "echo '#define __GNUC__ 12'; echo '#define __VERSION__ \"12 \xff\"'\n")
    assert find_compiler(str(macros)).version == "12 \ufffd"


def test_a_compiler_without_a_version(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="is neither gcc nor clang"):
        find_compiler(str(script(tmp_path, "echo '#define __GNUC__ 12'\n")))


@pytest.mark.parametrize("named", ["./mycc", "mycc"])
def test_a_compiler_of_this_folder_runs_in_others(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, 'exec gcc "$@"\n')
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.c").write_text("int a;\n")
    monkeypatch.chdir(tmp_path)
    if named == "mycc":
        monkeypatch.setenv("PATH", ".", prepend=":")
    compile_all(find_compiler(named), [Compilation("a.c", "a.o", ())], tmp_path / "other", 1)
    assert (tmp_path / "other" / "a.o").is_file()
