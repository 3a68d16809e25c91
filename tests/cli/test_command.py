"""Every command as a user types it; a mistake gives one line and status 2, and nothing is written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.command import rbdgen as in_a_process
from support.robots import BUNDLED

from rbdgen.cli import main
from rbdgen.cli.command import COMMANDS
from rbdgen.cli.parsers import PARSERS
from rbdgen.functions.table import ALL, TABLE
from rbdgen.version import __version__

PENDULUM = str(BUNDLED["double_pendulum"])


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_generate_then_check_and_bench(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([PENDULUM, "-f", "rnea,aba,crba"]) == 0
    printed = capsys.readouterr()
    rows = [line for line in lines(printed.out) if line.startswith("│")]
    assert [row.split()[1] for row in rows] == ["rnea", "aba", "crba"]
    assert lines(printed.out)[-1] == "wrote generated/double_pendulum"
    assert all(line.startswith("rbdgen: ") for line in lines(printed.err))
    assert main(["check", "generated/double_pendulum"]) == 0
    verdict = capsys.readouterr().out
    assert "FAILED" not in verdict
    assert verdict.count("passed") >= 7
    assert "batches of any size, bit for bit" in verdict
    assert main(["bench", "generated/double_pendulum", "--json"]) == 0
    times = json.loads(capsys.readouterr().out)
    assert [time["function"] for time in times] == ["rnea", "aba", "crba"]
    assert all(time["call"] > time["batch"] > 0 for time in times)


def test_check_finds_a_fault(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([PENDULUM, "-f", "rnea", "-q"]) == 0
    source = here / "generated/double_pendulum/double_pendulum_rnea.c"
    text = source.read_text()
    assert "tau[0] = " in text
    source.write_text(text.replace("tau[0] = ", "tau[0] = 1.0 + "))
    assert main(["check", "generated/double_pendulum"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_check_compares_float_with_double(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", PENDULUM, "--real", "float", "-f", "rnea,aba"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "float against double, 10,000 random states" in printed
    table = [line.replace("│", " ").split() for line in lines(printed) if line.startswith("│")]
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["function"] for row in rows] == ["rnea", "aba"]
    for row, shown in zip(rows, table, strict=True):
        assert 2.0**-27 < row["median"] < 2.0**-20 < row["largest"] < 1e-2
        assert row["largest"] <= row["bound"]
        assert shown == [row["function"], *(f"{row[x]:.1e}" for x in ("median", "largest", "bound"))]
    assert list(here.iterdir()) == []


def test_check_of_a_robot_keeps_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "double_pendulum", "-f", "rnea,crba"]) == 0
    printed = capsys.readouterr().out
    assert "crba = Pinocchio's" in printed
    assert re.fullmatch(r"rbdgen: \d passed, 0 failed, 0 left out; at 20 random states", lines(printed)[-1])
    assert list(here.iterdir()) == []


def test_check_tells_what_it_left_out(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([PENDULUM, "-f", "minv", "-q"]) == 0
    monkeypatch.setattr("rbdgen.checks.check.find_spec", lambda name: None)
    assert main(["check", "generated/double_pendulum", "--json"]) == 0
    found = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out)}
    left_out = {what: finding["figure"] for what, finding in found.items() if finding["passed"] is None}
    assert left_out == {
        "M Minv = 1": "needs crba, which this folder does not have",
        "comparison with Pinocchio": "Pinocchio is not installed; pip install pin",
    }
    assert main(["check", "generated/double_pendulum"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("left out") == 3
    assert lines(printed)[-1].endswith("passed, 0 failed, 2 left out; at 20 random states")


def test_a_target_in_float_takes_float(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [PENDULUM, "-f", "gravity", "--target", "cortex-m4f", "--no-compile"]
    assert main(arguments) == 0
    told = lines(capsys.readouterr().err)
    assert told[0] == "rbdgen: computes in float: cortex-m4f has no hardware for another type"
    manifest = json.loads((here / "generated/double_pendulum/manifest.json").read_text())
    assert manifest["real"] == "float"
    assert main([*arguments, "--real", "float"]) == 0
    assert "computes in float" not in capsys.readouterr().err
    assert main([*arguments, "--real", "double"]) == 2
    assert "take --real float" in capsys.readouterr().err


def test_check_as_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([PENDULUM, "-f", "rnea,aba", "-q"]) == 0
    assert main(["check", "generated/double_pendulum", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert {"emitted self-test", "FD(ID(a)) = a"} <= {finding["what"] for finding in findings}
    assert all(finding["passed"] for finding in findings)


def test_quiet_prints_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([PENDULUM, "-f", "rnea", "-q", "-o", "out"]) == 0
    assert capsys.readouterr() == ("", "")
    assert list((here / "out/double_pendulum").glob("_double_pendulum.*.abi3.so"))


@pytest.mark.parametrize("command", [[PENDULUM, "-f", "rnea"], ["inertia"]], ids=["robot", "inertia"])
def test_no_compile_takes_no_compiler(
    here: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main([*command, "-q", "--no-compile", "--compiler", "gcc"]) == 2
    told = "rbdgen: error: --compiler: --no-compile compiles nothing; leave one of them out\n"
    assert capsys.readouterr().err == told
    assert not (here / "generated").exists()


def test_no_compile(here: Path) -> None:
    assert main([PENDULUM, "-f", "rnea", "-q", "--no-compile"]) == 0
    folder = here / "generated/double_pendulum"
    assert (folder / "double_pendulum_rnea.c").is_file()
    assert not list(folder.rglob("*.so"))


def test_functions_in_several_options_add_up(here: Path) -> None:
    assert main([PENDULUM, "-f", "rnea", "--functions", "crba,nle", "-q", "--no-compile"]) == 0
    manifest = json.loads((here / "generated/double_pendulum/manifest.json").read_text())
    assert list(manifest["functions"]) == ["rnea", "crba", "nle"]


def test_check_of_functions_that_take_sines(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([PENDULUM, "-f", "rnea,aba,crba,minv", "-q", "--trig", "input"]) == 0
    assert main(["check", "generated/double_pendulum"]) == 0
    verdict = capsys.readouterr().out
    assert "M Minv = 1" in verdict
    assert verdict.count("passed") >= 6


@pytest.mark.parametrize("command", ["check", "bench"])
def test_code_of_another_machine(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["-f", "rnea", "-q", "--target", "cortex-m4f", "--real", "float"]
    assert main([PENDULUM, *arguments]) == 0
    assert main([command, "generated/double_pendulum"]) == 2
    (line,) = lines(capsys.readouterr().err)
    assert "was generated as C alone" in line


def test_no_compile_needs_no_compiler(here: Path) -> None:
    done = in_a_process(PENDULUM, "-f", "rnea", "-q", "--no-compile", cwd=here, CC="/no/such/cc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_name_alone_says_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr()
    assert "  rbdgen arm7  " in printed.out
    assert all(f"  rbdgen {command} " in printed.out for command in COMMANDS)
    assert max(map(len, lines(printed.out))) <= 80
    assert len(lines(printed.out)) < 24
    assert printed.err == ""


@pytest.mark.parametrize("command", PARSERS)
def test_every_option_has_a_help(command: str) -> None:
    parser = PARSERS[command]()
    assert [action.dest for action in parser._actions if not action.help] == []
    assert "[options]" in parser.format_usage()


def test_a_command_has_its_own_options_only() -> None:
    """Options such as the name of a folder are refused by commands that write nothing."""
    options = {name: {action.dest for action in parser()._actions} for name, parser in PARSERS.items()}
    assert options["inspect"] <= options["generate"] | {"json"}
    assert "functions" not in options["inspect"]
    writing = {"name", "ram", "out", "no_compile"}
    assert not writing & (options["check"] | options["bench"] | options["list"])


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = lines(capsys.readouterr().out)
    assert max(map(len, printed)) <= 80
    assert len(printed) <= len(ALL) + 5
    named = {name for name, row in ALL.items() if not (row.of_frames or row.of_contacts)}
    assert all(any(line.startswith(f"{name}(q") for line in printed) for name in named)
    assert any(line.startswith("frame_... ") for line in printed)
    assert any(line.startswith("contact_...") for line in printed)


def test_list_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--forms"]) == 0
    printed = capsys.readouterr().out
    for name, function in TABLE.items():
        assert name in printed
        assert all(form.name in printed for form in function.forms)


def test_list_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--counts", PENDULUM]) == 0
    rows = [line for line in lines(capsys.readouterr().out) if line.startswith("│")]
    assert [row.split()[1] for row in rows] == [*TABLE, "regressor_base"]
    (crba,) = (row.replace("│", " ").split() for row in rows if " crba " in row)
    assert crba[-1] == "5"


def test_list_counts_of_some_functions(capsys: pytest.CaptureFixture[str]) -> None:
    """Functions that are made on request are counted, too."""
    assert main(["list", "--counts", PENDULUM, "-f", "crba,aba_vjp"]) == 0
    rows = [line.split("│")[1].strip() for line in capsys.readouterr().out.splitlines() if "│" in line]
    assert rows == ["crba", "aba_vjp"]


def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", PENDULUM, "--base", "floating"]) == 0
    printed = capsys.readouterr().out
    assert "floating base, nq 9, nv 8, bodies 3" in printed
    assert "joint elbow, revolute about (0, 1, 0), q[8], v[7]" in printed


@pytest.mark.parametrize("command", ["list", "inspect", "check", "bench"])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([command, "--help"])
    assert exit_.value.code == 0
    assert f"rbdgen {command}" in capsys.readouterr().out


def test_inspect_a_xacro(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xacro")
    text = Path(PENDULUM).read_text().replace('name="elbow"', 'name="$(arg side)elbow$(arg end)"')
    Path("robot.xml").write_text(text.replace("<robot ", '<robot xmlns:xacro="http://ros.org/wiki/xacro" '))
    assert main(["inspect", "robot.xml", "--xacro-arg", "side=left_", "--xacro-arg", "end="]) == 0
    assert "joint left_elbow, revolute" in capsys.readouterr().out
    assert main(["inspect", "robot.xml"]) == 2
    (line,) = lines(capsys.readouterr().err)
    assert line.startswith("rbdgen: error: robot.xml: xacro says: Undefined substitution argument")


def test_inspect_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    part = ["--lock", "left_elbow_pitch=0.5", "--root", "chest", "--tip", "left_forearm"]
    assert main(["inspect", "humanoid30", *part]) == 0
    printed = capsys.readouterr().out
    assert "nq 4, nv 4, bodies 4" in printed
    told = [line for line in lines(printed) if "dropped" in line]
    assert len(told) == 4
    assert all(line.startswith("rbdgen: warning: ") for line in told)


def test_inspect_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "humanoid30", "--json", "--base", "floating", "--lock", "waist_yaw=0"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["base"], found["nq"], found["nv"]) == ("humanoid30", "floating", 36, 35)
    first, *others = found["bodies"]
    assert (first["name"], first["parent"]) == ("pelvis", "world")
    assert [first[name] for name in ("idx_q", "nq", "idx_v", "nv")] == [0, 7, 0, 6]
    assert sum(body["mass"] for body in found["bodies"]) == pytest.approx(found["mass"])
    assert [body["idx_v"] for body in others] == list(range(6, 35))
    assert first["merged"]
    assert set(found["frames"]) >= {"world", *(body["name"] for body in others), *first["merged"]}
    assert found["warnings"] == []


def test_inspect_compares_inertias_with_shapes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The warning is one among the others; shapes that could not be read are told on their own."""
    mesh = '<visual><geometry><mesh filename="no.stl"/></geometry></visual>'
    small = '<visual><geometry><sphere radius="0.001"/></geometry></visual>'
    text = re.sub(r"<visual>.*?</visual>", "", Path(PENDULUM).read_text(), flags=re.DOTALL)
    text = text.replace('<link name="upper">', f'<link name="upper">{mesh}')
    Path("robot.urdf").write_text(text.replace('<link name="lower">', f'<link name="lower">{small}'))
    assert main(["inspect", "robot.urdf"]) == 0
    printed = capsys.readouterr()
    assert (
        "rbdgen: warning: robot.urdf: body 'lower': its inertia is too large for its shapes: " in printed.out
    )
    (line,) = lines(printed.err)
    assert line.startswith("rbdgen: inertias are not compared with shapes that cannot be read (1), such as ")
    assert "link 'upper': mesh 'no.stl': there is no such file" in line
    assert main(["inspect", "robot.urdf", "--json"]) == 0
    warned = json.loads(capsys.readouterr().out)["warnings"]
    assert any(text.startswith("robot.urdf: body 'lower': its inertia is too large") for text in warned)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert (exit_.value.code, capsys.readouterr().out) == (0, f"rbdgen {__version__}\n")


def test_warnings_are_one_line_each(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(PENDULUM).read_text().replace('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>')
    Path("robot.urdf").write_text(text)
    assert main(["robot.urdf", "-f", "rnea", "--no-compile"]) == 0
    warnings = [line for line in lines(capsys.readouterr().err) if line.startswith("rbdgen: warning: ")]
    assert len(warnings) == 2
    assert all(line.startswith("rbdgen: warning: robot.urdf:") for line in warnings)


def test_a_warning_about_line_100_names_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`:100:` is not printed as an emoji, and the warning is one line for any length of the path."""
    folder = Path("x" * 120)
    folder.mkdir()
    text = Path(PENDULUM).read_text().replace('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>', 1)
    above = text[: text.index("<joint")].count("\n")
    start = text.index("<robot")
    (folder / "robot.urdf").write_text(text[:start] + "\n" * (99 - above) + text[start:])
    assert main([str(folder / "robot.urdf"), "-f", "rnea", "--no-compile", "-o", str(folder)]) == 0
    printed = capsys.readouterr()
    assert any(line.startswith(f"rbdgen: warning: {folder}/robot.urdf:100: ") for line in lines(printed.err))
    assert lines(printed.out)[-1] == f"wrote {folder}/double_pendulum"


def test_a_terminal_without_unicode(here: Path) -> None:
    text = Path(PENDULUM).read_text().replace('"elbow"', '"肘"')
    Path("robot.urdf").write_text(text, encoding="utf-8")
    done = in_a_process("inspect", "robot.urdf", cwd=here, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"joint \u8098, revolute" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["list"], ["bench", PENDULUM, "-f", "gravity", "--json"]])
def test_output_that_cannot_be_written(arguments: list[str], here: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rbdgen.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert lines(done.stderr)[-1].startswith("rbdgen: error: the output cannot be written (No space")
    assert "Traceback" not in done.stderr


# ---- mistakes


def test_bounds_are_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a table and as JSON; what has no bound says so: there are no sines of angles beyond 1e5."""
    arguments = ["bounds", PENDULUM, "-f", "rnea", "--range", "v=-1:1", "--range", "a=-1:1", "--range"]
    assert main([*arguments, "q=-3:3"]) == 0
    printed = capsys.readouterr().out
    assert "rnea: tau" in printed
    assert "no bound" not in printed
    assert main([*arguments, "q=-2e5:2e5"]) == 0
    assert "no bound" in capsys.readouterr().out
    assert main([*arguments, "q=-3:3", "--json", "--tighten", "8"]) == 0
    (near,) = json.loads(capsys.readouterr().out)
    assert main([*arguments, "q=-2e5:2e5", "--json"]) == 0
    (far,) = json.loads(capsys.readouterr().out)
    assert all(error > 0 for error in near["outputs"]["tau"]["error"]["float"])
    assert far["outputs"]["tau"]["error"]["float"] == [None, None]
    assert far["outputs"]["tau"]["highest"] >= near["outputs"]["tau"]["highest"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--range", "q=1:-1"], "--range q: '1:-1' begins above its end"),
        (["--range", "q"], "not of the form NAME=LOWEST:HIGHEST"),
        (["--range", "q=0:inf"], "is not finite"),
        (["--range", "q=:"], "is no range; give NAME=LOWEST:HIGHEST"),
        (["--range", "x=0:1"], "no input and no parameter"),
        (["--range", "q=-1:1", "--tighten", "-1"], "--tighten -1: give a number of parts"),
        (["--range", "q=-1:1"], "a[0] (joint shoulder) has no limits; give --range a=LOWEST:HIGHEST"),
    ],
)
def test_impossible_bounds(
    wrong: list[str], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bounds", PENDULUM, "-f", "rnea", *wrong]) == 2
    errors = [line for line in lines(capsys.readouterr().err) if "error" in line]
    assert len(errors) == 1
    assert message in errors[0]
