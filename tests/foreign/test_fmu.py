"""FMUs pass the checks of FMPy and move as the library's steps."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.recipes import recipe
from support.tools import attempted, need, need_modules, ran

import rbdgen
from rbdgen.errors import OptionError


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FMU of an arm that touches the ground, of its step with friction."""
    need("make", "gcc", packages="make gcc")
    need_modules("fmpy", packages="fmpy")
    root = tmp_path_factory.mktemp("fmu")
    folder = rbdgen.generate(
        leaning(), root, functions=["step", "contact_step"], emit=["fmu:contact_step"], compiled=False
    )
    ran("make", "fmu", "CFLAGS=-O0 -Werror", cwd=folder)
    library = "build/double_pendulum_fmu.so"
    told = ran(sys.executable, "fmu/pack.py", library, root / "arm.fmu", cwd=folder)
    assert told == f"{root / 'arm.fmu'}\n"
    return root / "arm.fmu"


def leaning() -> Any:
    tip = [rbdgen.Point("tip", "lower", (0, 0, 0.5))]
    return rbdgen.load_robot("double_pendulum", contacts=tip)


def test_fmpys_own_checks(packed: Path) -> None:
    from fmpy.validation import validate_fmu  # noqa: PLC0415

    assert validate_fmu(str(packed)) == []


def test_a_simulation(packed: Path) -> None:
    """Each communication step is 3 integration steps; further inputs are read, and further results given."""
    import fmpy  # noqa: PLC0415

    start = {"q": [0.3, -0.7], "v": [0.1, 0.2], "time_step": 0.004, "friction": [0.5]}
    names = ["q", "v", "residual"]
    result = fmpy.simulate_fmu(
        str(packed), start_values=start, stop_time=0.1, step_size=0.01, output_interval=0.01, output=names
    )
    library = rbdgen.build(leaning(), functions=["contact_step"])
    q, v = np.array([0.3, -0.7]), np.array([0.1, 0.2])
    for row in result:
        np.testing.assert_allclose(row["q"], q, rtol=1e-12)
        np.testing.assert_allclose(row["v"], v, rtol=1e-12)
        for _ in range(3):
            q, v, *rest = library.contact_step(q, v, np.zeros(2), 0.01 / 3, friction=[0.5])
    assert len(result) == 11
    assert np.shape(result["residual"][0]) == np.shape(np.ravel(rest[-1]))


def test_the_recipe(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of the page runs, here with an FMU that falls onto the ground."""
    shutil.copy(packed, tmp_path / "double_pendulum.fmu")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(recipe("FMI", "python")[0], names)
    assert names["result"]["time"][-1] == pytest.approx(1.0)
    assert np.isfinite(names["result"]["q"]).all()


def test_an_instance(packed: Path) -> None:
    """States are kept and restored; what cannot be set or done is an error, and nothing is changed."""
    from fmpy import extract, instantiate_fmu, read_model_description  # noqa: PLC0415
    from fmpy.fmi1 import FMICallException  # noqa: PLC0415

    described = read_model_description(str(packed))
    variables = {x.name: x.valueReference for x in described.modelVariables}
    unit = instantiate_fmu(extract(str(packed)), described, "CoSimulation")
    unit.enterInitializationMode(startTime=0.0)
    unit.setFloat64([variables["q"]], [0.3, -0.7])
    with pytest.raises(FMICallException):
        unit.setFloat64([variables["q"]], [1.0])
    unit.exitInitializationMode()
    kept = unit.getFMUState()
    unit.setFloat64([variables["tau"]], [1.0, 0.0])
    unit.doStep(0.0, 0.01)
    moved = unit.getFloat64([variables["q"]], nValues=2)
    assert unit.getFloat64([0]) == [0.01]
    for call in (
        lambda: unit.setFloat64([variables["v"]], [0.0, 0.0]),
        lambda: unit.setFloat64([99], [0.0]),
        lambda: unit.doStep(0.01, -1.0),
        lambda: unit.getInt32([0]),
    ):
        with pytest.raises(FMICallException):
            call()
    assert unit.getFloat64([variables["q"]], nValues=2) == moved
    unit.setFMUState(kept)
    assert unit.getFloat64([variables["q"], variables["tau"]], nValues=4) == [0.3, -0.7, 0.0, 0.0]
    unit.freeFMUState(kept)
    unit.reset()
    assert unit.getFloat64([variables["q"]], nValues=2) == [0.0, 0.0]
    unit.freeInstance()


def test_nothing_to_pack(tmp_path: Path) -> None:
    folder = rbdgen.generate("double_pendulum", tmp_path, functions=["step"], emit=["fmu"], compiled=False)
    done = attempted(sys.executable, "fmu/pack.py", cwd=folder)
    assert done.returncode == 1
    assert "double_pendulum_fmu.so: is missing; run `make fmu` in " in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"functions": ["aba"], "emit": ["fmu"]}, "no function is an integration step; ask for functions="),
        ({"emit": ["fmu:aba"]}, "'aba' is no integration step; choose from: step"),
        ({"emit": ["fmu"], "real": "float"}, "an FMU computes in double; leave real='float' out"),
        ({"emit": ["fmu"], "target": "cortex-m7"}, "an FMU runs on a computer; leave target='cortex-m7' out"),
        ({"emit": ["fmu"], "params": ["mass:*"]}, "an FMU has no parameters of the robot; leave params out"),
    ],
    ids=["nothing", "another", "float", "machine", "parameters"],
)
def test_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError) as caught:
        rbdgen.generate("double_pendulum", tmp_path, **{"functions": ["step"], **options})
    assert message in str(caught.value)
