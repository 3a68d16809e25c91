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
from rbdgen.signature import SizedArgument

WARNINGS = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wdouble-promotion"),
    *("-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror"),
)

IN_PLACE = ["rotated", "translated", "transformed", "merged", "split", "factored", "to_ksl", "from_ksl"]

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
        return generator.normal(size=(count, *argument.shape))

    return [value(x).astype(dtype) for x in OPERATIONS[operation].signature.sized({}).inputs]


def of_python(operation: str, arguments: list[np.ndarray]) -> np.ndarray:
    """The results of `rbdgen.Inertia`."""
    first, *others = arguments
    if operation.startswith("from_"):
        return getattr(rbdgen.Inertia, operation)(first).parameters
    body = rbdgen.Inertia(first)
    if operation == "factored":
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
    if operation == "factored":
        scale = scale * 100  # rounding of the largest entry reaches the smallest pivot
    if operation == "quadratic":
        scale = np.abs(expected).max()
    assert (np.abs(ours - expected) <= tolerance * scale).all()
    for k in range(5):
        assert (function(*(x[k] for x in arguments)) == ours[k]).all()


@pytest.fixture(scope="module")
def shared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """A shared library of the C without the Python package, as controllers link it."""
    library = tmp_path_factory.mktemp("shared") / "libinertia.so"
    sources = [path for path in folder.glob("inertia_*.c") if not path.stem.endswith(("batch", "selftest"))]
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
