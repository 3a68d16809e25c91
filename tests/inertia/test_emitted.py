"""The emitted C of the operations agrees with `rbdgen.Inertia`, also in place; it gives no warnings."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdgen
from rbdgen.inertia.operations import OPERATIONS
from rbdgen.inertia.physical import Factor
from rbdgen.signature import SizedArgument

WARNINGS = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wdouble-promotion"),
    *("-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"),
)

IN_PLACE = [
    *("rotated", "translated", "transformed", "merged", "split", "factored", "factored_any_rank"),
    *("to_ksl", "from_ksl"),
]

REALS = {"double": (np.float64, ctypes.c_double, 1e-14), "float": (np.float32, ctypes.c_float, 2e-6)}


@pytest.fixture(scope="module", params=REALS)
def real(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def folder(real: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all operations, compiled for this machine."""
    return rbdgen.generate_inertia(tmp_path_factory.mktemp(real), real=real)


def inputs(operation: str, dtype: Any, count: int) -> list[np.ndarray]:
    """Random bodies, rotations and vectors, as the operation needs them."""
    generator = np.random.default_rng(9)

    def value(argument: SizedArgument) -> np.ndarray:
        if argument.name == "rotation":
            Q, _ = np.linalg.qr(generator.normal(size=(count, 3, 3)))
            return np.asarray(Q * np.sign(np.linalg.det(Q))[:, None, None])
        if argument.name in ("inertia", "child", "ksl", "pseudo_inertia"):
            body = rbdgen.Inertia.from_log_cholesky(0.3 * generator.normal(size=(count, 10)))
            return {"ksl": body.to_ksl, "pseudo_inertia": body.to_pseudo_inertia}.get(
                argument.name, lambda: body.parameters
            )()
        if argument.name == "tolerance":
            return np.full(count, 64 * np.finfo(dtype).eps)
        return generator.normal(size=(count, *argument.shape))

    return [value(x).astype(dtype) for x in OPERATIONS[operation].signature.sized({}).inputs]


def of_python(operation: str, arguments: list[np.ndarray]) -> np.ndarray:
    """The results of `rbdgen.Inertia`."""
    first, *others = arguments
    if operation.startswith("from_"):
        return getattr(rbdgen.Inertia, operation)(first).parameters
    body = rbdgen.Inertia(first)
    if operation == "rank":
        return np.asarray(body.factor().rank, float)
    if operation.startswith("factored"):
        L = np.linalg.cholesky(body.about_center)
        found = body.factor()
        lower = L[..., [0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]]
        return np.concatenate([found.a[:, None], found.b, lower], axis=-1)
    if operation in ("merged", "split"):
        others[0] = rbdgen.Inertia(others[0])  # type: ignore[call-overload]
    result = getattr(body, {"equation_of_motion": "rate"}.get(operation, operation))(*others)
    return result.parameters if isinstance(result, rbdgen.Inertia) else np.asarray(result)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_as_python(operation: str, real: str, folder: Path) -> None:
    """Results agree for many bodies at once, and for each body alone."""
    dtype, _, tolerance = REALS[real]
    arguments = inputs(operation, dtype, 50)
    function = rbdgen.load(folder).functions[operation]
    ours, expected = function(*arguments), of_python(operation, arguments)
    assert ours.shape == expected.shape
    assert ours.dtype == dtype
    scale = np.abs(expected).max(axis=tuple(range(1, expected.ndim)), keepdims=True)
    if operation.startswith("factored"):
        scale = scale * 100  # rounding of the largest entry reaches the smallest pivot
    if operation == "quadratic":
        scale = np.abs(expected).max()
    assert (np.abs(ours - expected) <= tolerance * scale).all()
    for k in range(5):
        assert (function(*(x[k] for x in arguments)) == ours[k]).all()


RODS = [(0, 0, 1), (1, 0, 0), (1, 1e-8, 0), (1e-3, 1e-5, 1), (0.3, 0.4, 0.5)]


def of_any_rank() -> dict[str, tuple[rbdgen.Inertia, int]]:
    """Solids, a plate, rods near an axis and far from one, a point and no body, with their ranks."""
    made, center = rbdgen.Inertia.from_center_of_mass, [0.1, -0.2, 0.3]
    found = {"solid": (made(2.0, center, np.diag([0.02, 0.03, 0.04])), 6)}
    found["plate"] = (made(2.0, center, np.diag([0.02, 0.03, 0.05])), 6)
    for direction in RODS:
        n = np.array(direction) / np.linalg.norm(direction)
        found[f"rod {direction}"] = (made(0.5, center, 0.1 * (np.eye(3) - np.outer(n, n))), 5)
    found["point"] = (made(1.5, center, np.zeros((3, 3))), 3)
    found["nothing"] = (rbdgen.Inertia(np.zeros(10)), 0)
    return found


@pytest.mark.parametrize("body", of_any_rank())
def test_any_rank(body: str, real: str, folder: Path) -> None:
    """F F^T is the inertia, columns of zeros show the rank, and the rank is that of Python."""
    inertia, rank = of_any_rank()[body]
    dtype, _, tolerance = REALS[real]
    given, least = inertia.parameters.astype(dtype), 64 * float(np.finfo(dtype).eps)
    functions = rbdgen.load(folder).functions
    assert functions["rank"](given, least) == rank == rbdgen.Inertia(given).factor().rank
    a, *b_and_L = functions["factored_any_rank"](given, least).astype(float)
    L = np.zeros((3, 3))
    L[[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]] = b_and_L[3:]
    F = Factor(rank, a, np.array(b_and_L[:3]), L).matrix
    whole = inertia.to_matrix()
    assert np.abs(F @ F.T - whole).max() <= tolerance * np.abs(whole).max()
    assert (np.diag(L) >= 0).all()


@pytest.mark.parametrize(
    "impossible",
    [
        (-1, 0, 0, 0, 0, 0, 0, 0, 0, 0),  # a negative mass
        (0, 1, 0, 0, 0, 0, 0, 0, 0, 0),  # moments without a mass
        (0, 0, 0, 0, 1, 0, 1, 0, 0, 1),
        (1, 0, 0, 0, 1, 0, 1, 0, 0, -1),  # negative moments
        (1, 0, 0, 0, 0, 1, 0, 0, 0, 0),
        (1, 0, 0, 0, np.nan, 0, 0, 0, 0, 0),
    ],
)
def test_no_rank(impossible: tuple[float, ...], real: str, folder: Path) -> None:
    """The rank and part of the factor of an inertia that no body can have are NaN."""
    functions = rbdgen.load(folder).functions
    given = np.array(impossible, REALS[real][0])
    assert np.isnan(functions["rank"](given, 1e-6))
    assert np.isnan(functions["factored_any_rank"](given, 1e-6)).any()


@pytest.fixture(scope="module")
def shared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """A shared library of the C without the Python package, as controllers link it."""
    library = tmp_path_factory.mktemp("shared") / "libinertia.so"
    sources = [path for path in folder.glob("inertia_*.c") if not path.stem.endswith("batch")]
    command = [
        "gcc",
        *WARNINGS,
        "-O1",
        "-ffp-contract=off",
        "-fPIC",
        "-shared",
        *sources,
        "-lm",
        "-o",
        library,
    ]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("operation", IN_PLACE)
def test_in_place(operation: str, real: str, shared: ctypes.CDLL) -> None:
    """The form in place gives the bits of the function itself, and changes no other input."""
    dtype, number, _ = REALS[real]
    arguments = [x.reshape(-1).copy() for x in inputs(operation, dtype, 1)]
    given = [x.copy() for x in arguments]
    result = np.empty(10, dtype)

    def call(name: str, arrays: list[np.ndarray]) -> None:
        getattr(shared, name)(*(x.ctypes.data_as(ctypes.POINTER(number)) for x in arrays))

    call(f"inertia_{operation}", [*arguments, result])
    assert all((x == y).all() for x, y in zip(arguments, given, strict=True))
    call(f"inertia_{operation}_in_place", arguments)
    assert (arguments[0] == result).all()
    assert (result != given[0]).any()
    assert all((x == y).all() for x, y in zip(arguments[1:], given[1:], strict=True))


def test_which_have_twins(folder: Path) -> None:
    header = (folder / "inertia.h").read_text()
    assert [name for name in OPERATIONS if f"inertia_{name}_in_place(" in header] == IN_PLACE


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_warning(compiler: str, folder: Path) -> None:
    """Compilers give no warning, also for batches and self-tests."""
    subprocess.run([compiler, *WARNINGS, "-fsyntax-only", *sorted(folder.glob("*.c"))], check=True)


def test_no_warning_in_cpp(folder: Path, tmp_path: Path) -> None:
    main_file = tmp_path / "main.cpp"
    main_file.write_text(
        '#include "inertia.hpp"\n'
        "int main() { std::array<inertia::real, 10> I{{1}}; inertia::real p[3] = {1, 2, 3};\n"
        "return inertia::translated(I, p)[1] == p[0] ? 0 : 1; }\n"
    )
    command = [
        "g++",
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-Wshadow",
        "-pedantic",
        "-Werror",
        f"-I{folder}",
        main_file,
    ]
    subprocess.run([*command, folder / "inertia_translated.c", "-o", tmp_path / "main"], check=True)
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.parametrize("which", ["check", "check-batch"])
def test_selftests(which: str, folder: Path, tmp_path: Path) -> None:
    command = ["make", "-s", f"BUILD={tmp_path}/build", "CFLAGS=-Werror", which]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == list(OPERATIONS)
    compared = done.stdout.count("as expected")
    assert compared == (len(OPERATIONS) if which == "check" else 0)


@pytest.mark.parametrize("option", [{"trig": "libm"}, {"variants": {"rotated": "plain"}}, {"savings": False}])
def test_options_of_robots_mean_nothing(option: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(rbdgen.RbdgenError, match="is an option of robots, not of inertias"):
        rbdgen.generate_inertia(tmp_path, functions=["rotated"], **option)
    assert list(tmp_path.iterdir()) == []


def test_the_text(golden: Callable[[str, str], None], tmp_path: Path) -> None:
    """The text is deterministic, equals the golden files, and has no words about robots."""
    folders = [
        rbdgen.generate_inertia(tmp_path / place, target="portable", compiled=False)
        for place in ("one", "two")
    ]
    one, two = ({path.name: path.read_bytes() for path in f.iterdir() if path.is_file()} for f in folders)
    assert one == two
    for name in ("inertia.h", "inertia_rotated.c", "README.md"):
        golden(f"inertia/{name}", one[name].decode())
    every = "".join(text.decode() for name, text in one.items() if name.endswith((".c", ".h", ".hpp", ".md")))
    assert not [word for word in ("the robot", "joint", "base", "malloc") if word in every]
