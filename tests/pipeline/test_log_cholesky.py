"""Log-Cholesky parameters as inputs: names, agreement with `ten`, and physical inertias for all numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.robots import BUNDLED, robot

import rbdgen
from rbdgen.errors import ArrayTypeError, ArrayValueError, OptionError
from rbdgen.model.inertial_parameters import NAMES
from rbdgen.model.parameters import all_parameters, asked_parameters
from rbdgen.options import Options
from rbdgen.pipeline.design import design_functions
from rbdgen.pipeline.request import Request
from rbdgen.runtime import Library
from rbdgen.runtime.log_cholesky import LOG_CHOLESKY

Array = NDArray[np.float64]

ASKED = ["mass:upper", "logchol:lower", "gravity"]


@pytest.fixture(scope="module")
def library() -> Library:
    return rbdgen.build("double_pendulum", ["rnea", "aba"], params=ASKED)


@pytest.fixture(scope="module")
def linear() -> Library:
    return rbdgen.build("double_pendulum", ["rnea", "aba"], params=["mass:upper", "ten:lower", "gravity"])


def some(library: Library, count: int, size: float = 1.0) -> Array:
    """Rows of parameters in which those of the link are random numbers of this size."""
    p = np.tile(library.parameters.defaults, (count, 1))
    p[:, 1:11] = size * np.random.default_rng(0).normal(size=(count, 10))
    return p


def test_names_units_and_defaults(library: Library, linear: Library) -> None:
    names, units = library.parameters.names, library.parameters.units
    assert names == ("mass:upper", *(f"logchol:lower.{name}" for name in LOG_CHOLESKY), "gravity.z")
    assert units == ("kg", *["1"] * 4, *["m"] * 6, "m/s^2")
    np.testing.assert_allclose(
        library.parameters.linear(library.parameters.defaults),
        linear.parameters.defaults,
        rtol=1e-14,
        atol=1e-16,
    )
    np.testing.assert_allclose(library.update(), linear.update(), rtol=1e-13, atol=1e-15)
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    np.testing.assert_array_equal(library.rnea(q, v, a), linear.rnea(q, v, a))
    np.testing.assert_allclose(library.rnea(q, v, a, library.update()), library.rnea(q, v, a), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_what_a_file_has_comes_back(name: str) -> None:
    """Defaults give the inertias of the file for every link, with the formula and order of `Inertia`."""
    rows = [x for x in all_parameters(robot(name)) if x.linear is not None]
    assert rows
    for first in range(0, len(rows), 10):
        linear = [x.linear.default for x in rows[first : first + 10] if x.linear]
        logarithms = [x.default for x in rows[first : first + 10]]
        found = rbdgen.Inertia.from_log_cholesky(logarithms).parameters
        np.testing.assert_allclose(found, linear, rtol=1e-9, atol=1e-13 * max(linear))


def test_any_numbers_are_a_body(library: Library) -> None:
    """There are no warnings, and pseudo-inertias have no negative eigenvalues."""
    p = some(library, 2000, 2.0)
    assert library.parameters.unphysical(p) == {}
    library.update(p)  # a warning would be an error
    bodies = rbdgen.Inertia(library.parameters.linear(p)[:, 1:11])
    assert bodies.is_physical().all()
    moments = np.linalg.eigvalsh(bodies.to_pseudo_inertia())
    assert (moments[:, 0] > -1e-12 * moments[:, 3]).all()


def test_numbers_are_those_of_ten(library: Library, linear: Library) -> None:
    """C gets the ten linear parameters, and gives the bits that it gives for them as inputs."""
    p = some(library, 50)
    ten = library.parameters.linear(p)
    np.testing.assert_array_equal(ten[:, [0, 11]], p[:, [0, 11]])
    np.testing.assert_array_equal(ten[:, 1:11], rbdgen.Inertia.from_log_cholesky(p[:, 1:11]).parameters)
    tables = library.update(p)
    np.testing.assert_array_equal(tables, linear.update(ten))
    np.testing.assert_array_equal(library.update(p[3]), tables[3])
    np.testing.assert_array_equal(library.update(p[3].tolist()), tables[3])
    np.testing.assert_array_equal(library.update(p.reshape(5, 10, 12)), tables.reshape(5, 10, -1))
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    np.testing.assert_array_equal(library.rnea(q, v, a, tables), linear.rnea(q, v, a, linear.update(ten)))


def test_by_name(library: Library) -> None:
    p = library.parameters.defaults.copy()
    p[[0, 1]] = 3.0, 0.25
    given = {"logchol:lower.alpha": 0.25, "mass:upper": 3.0}
    np.testing.assert_array_equal(library.update(given), library.update(p))
    np.testing.assert_allclose(library.parameters.linear(p)[1], np.exp(0.5), rtol=1e-15)
    several = library.update({"logchol:lower.t1": np.linspace(-1, 1, 4)})
    assert several.shape[0] == 4
    with pytest.raises(ArrayTypeError, match=r"no parameter 'logchol:lower\.m'; did you mean 'logchol:lower"):
        library.update({"logchol:lower.m": 1.0})
    with pytest.raises(ArrayTypeError, match=r"no parameter 'ten:lower\.m';"):
        library.update({"ten:lower.m": 1.0})


def test_float() -> None:
    """The ten linear parameters are computed in double, also if C computes in float."""
    library = rbdgen.build("double_pendulum", ["rnea"], params=["logchol:lower"], real="float")
    p = library.parameters.defaults + 0.1
    table = library.update(p)
    assert table.dtype == np.float32
    np.testing.assert_array_equal(table, library.update.function(library.parameters.linear(p)))


@pytest.mark.filterwarnings("ignore:update. no body has the inertia")
@pytest.mark.parametrize("value", [np.nan, 400.0, -400.0, np.inf])
def test_odd_numbers_pass_through(library: Library, value: float) -> None:
    p = library.parameters.defaults.copy()
    p[1] = value
    assert library.update(p).shape == library.update().shape


@pytest.mark.parametrize(
    ("p", "error"),
    [
        (np.zeros(11), ArrayValueError),
        (np.zeros((12, 5)), ArrayValueError),
        (np.zeros(12, complex), ArrayTypeError),
        (1.0, ArrayValueError),
        ("p", ArrayTypeError),
    ],
)
def test_what_does_not_fit_is_refused(library: Library, p: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^update: p has"):
        library.update(p)


def test_dask(library: Library) -> None:
    da = pytest.importorskip("dask.array")
    p = some(library, 20)
    for chunks in ((7, 12), (7, 5)):
        lazy = library.update(da.from_array(p, chunks=chunks))
        np.testing.assert_array_equal(lazy.compute(), library.update(p))
    with pytest.raises(ArrayValueError, match="update: p has shape"):
        library.update(da.from_array(p[:, :5], chunks=5))


def test_a_library_that_travels(library: Library) -> None:
    """The manifest lists the ten linear parameters for programs without rbdgen."""
    assert library.manifest["log_cholesky"] == [1]
    names = [row["name"] for row in library.manifest["parameters"]]
    assert names[1:11] == [f"ten:lower.{name}" for name in NAMES]


def inertial(mass: float, xx: float, yy: float, zz: float) -> str:
    entries = f'ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"'
    return f'<inertial><mass value="{mass}"/><inertia {entries}/></inertial>'


FLAT = f"""<robot name="flat"><link name="base"/>
<link name="plate">{inertial(1, 1, 1, 2)}</link><link name="ball">{inertial(2, 1, 1, 1)}</link>
<joint name="a" type="continuous"><parent link="base"/><child link="plate"/><axis xyz="0 1 0"/></joint>
<joint name="b" type="continuous"><parent link="plate"/><child link="ball"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["logchol:lower.alpha"], "parameters are inputs all ten together; ask for 'logchol:lower'"),
        (["logchol:low*.t?"], "parameters are inputs all ten together; ask for 'logchol:lower'"),
        (["logchol:lower", "mass:lower"], r"\['logchol:lower', 'mass:lower'\]: both determine the same"),
        (["ten:lower", "logchol:*"], r"\['logchol:lower', 'ten:lower'\]: both determine the same numbers"),
        (["logchol:lowr"], "no such parameter; did you mean 'logchol:lower'"),
        (["logchol:base"], "link 'base' does not move"),
    ],
)
def test_refused(asked: list[str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        asked_parameters(rbdgen.load_robot("double_pendulum"), asked)


def test_a_plate_has_none(tmp_path: Any) -> None:
    path = tmp_path / "flat.urdf"
    path.write_text(FLAT)
    flat = rbdgen.load_robot(path)
    message = "link 'plate' is not that of a body that extends in all directions.*; ask for 'ten:plate'"
    with pytest.raises(OptionError, match=message):
        asked_parameters(flat, ["logchol:plate"])
    assert [x.name for x in asked_parameters(flat, ["logchol:*"])] == [f"ten:ball.{name}" for name in NAMES]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            Options(functions=("rnea_dparams",), params=("logchol:lower",)),
            "function 'rnea_dparams' differentiates by the linear parameters of C; ask for 'ten:lower'",
        ),
        (
            Options(functions=("rnea",), params=("logchol:lower",), target="cortex-m7"),
            "target='cortex-m7' has no library that computes them; ask for 'ten:lower'",
        ),
    ],
)
def test_what_has_no_library_reads_ten(options: Options, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        design_functions(Request(rbdgen.load_robot("double_pendulum"), options))
