"""`rbdgen check`: is a generated folder right, on this machine, today?

The emitted self-test is recompiled and run; the identities of the dynamics are evaluated at random states;
where Pinocchio is installed, every function is compared with it on the model that the manifest carries.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.errors import BuildError
from rbdgen.options import environment_compiler
from rbdgen.runtime import Library, open_library
from rbdgen.toolchain.compiler import find_compiler

STATES = 20
TOLERANCE = {"double": 1e-9, "float": 1e-2}
"""Of max |difference| / max |reference|: identities of ill-conditioned robots in the given precision."""


@dataclass(frozen=True)
class Finding:
    """One check: what, whether it passed, and a figure or a reason."""

    what: str
    passed: bool
    figure: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def check(folder: Path) -> list[Finding]:
    """All checks of a generated and compiled folder. Raises LoadError, BuildError."""
    library = open_library(folder)
    findings = list(_selftests(folder, library))
    inputs = states(library)
    findings += [_compared(*case) for case in _identities(library, inputs)]
    if find_spec("pinocchio") is None:
        return findings
    from rbdgen.checks.pinocchio import reference  # noqa: PLC0415  (an optional oracle)

    tolerance = TOLERANCE[library.manifest["real"]]
    for name, expected in reference(library.manifest, inputs).items():
        if name in library.functions:
            findings.append(
                _compared(f"{name} = Pinocchio's", _call(library, name, inputs), expected, tolerance)
            )
    return findings


def states(library: Library, count: int = STATES) -> dict[str, Any]:
    """Random states: unit quaternions, the base within 1 m; sines and cosines for `--trig input`."""
    generator = np.random.default_rng(1)
    manifest = library.manifest
    q = library.normalize(generator.uniform(-1, 1, (count, manifest["nq"])))
    values = {"q": q, "sin_q": np.sin(q), "cos_q": np.cos(q)}
    values |= {name: generator.uniform(-1, 1, (count, manifest["nv"])) for name in ("v", "a", "tau")}
    values["fext"] = generator.uniform(-1, 1, (count, manifest["nbodies"], 6))
    return values


def _selftests(folder: Path, library: Library) -> Iterator[Finding]:
    """The folder's own programs: golden vectors, and batches against single calls where it has batches."""
    name = library.name
    sources = [facts["source"] for facts in library.manifest["functions"].values()]
    yield _selftest("emitted self-test", folder, [*sources, f"{name}_selftest.c"])
    batches = f"{name}_batch_selftest.c"
    if batches in library.manifest["files"]:
        batch_functions = [
            batch_function
            for source in sources
            if (folder / (batch_function := f"{source[:-2]}_batch.c")).is_file()
        ]
        yield _selftest("batches = single calls, bit for bit", folder, [*sources, *batch_functions, batches])


def _selftest(what: str, folder: Path, sources: Sequence[str]) -> Finding:
    """Compile these sources afresh, one of them with a main, and run it."""
    compiler = find_compiler(environment_compiler())
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as scratch:
        program = Path(scratch) / "selftest"
        command = [
            *compiler.command,
            "-std=c99",
            "-O1",
            "-ffp-contract=off",
            "-o",
            str(program),
            *(str((folder / source).resolve()) for source in sources),
            "-lm",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            first = (done.stderr.strip() or "no message").splitlines()[0]
            raise BuildError(f"{folder}: the self-test does not compile: {first}; generate the folder again")
        run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    lines = run.stdout.strip().splitlines() or ["it printed nothing"]
    return Finding(what, run.returncode == 0, lines[-1])


def _call(library: Library, name: str, inputs: dict[str, Any]) -> Any:
    function = library.functions[name]
    return function(*(inputs[argument.name] for argument in function.signature.inputs))


def _identities(library: Library, inputs: dict[str, Any]) -> Iterator[tuple[str, Any, Any, float]]:
    """Pairs that must be equal, of the functions that are there."""
    tolerance = TOLERANCE[library.manifest["real"]]
    present = library.functions.keys()
    nv, a = library.manifest["nv"], inputs["a"]

    def call(name: str, **changed: Any) -> Any:
        return _call(library, name, inputs | changed)

    if {"crba", "minv"} <= present:
        yield (
            "M Minv = 1",
            call("crba") @ call("minv"),
            np.broadcast_to(np.eye(nv), (len(a), nv, nv)),
            tolerance,
        )
    if {"rnea", "aba"} <= present:
        yield "FD(ID(a)) = a", call("aba", tau=call("rnea")), a, tolerance
    if {"rnea", "nle"} <= present:
        yield "ID(q, v, 0) = nle", call("rnea", a=0 * a), call("nle"), tolerance
    if {"rnea_derivatives", "crba"} <= present:
        yield "dID/da = M", call("rnea_derivatives")[2], call("crba"), tolerance
    if {"aba_derivatives", "minv"} <= present:
        yield "dFD/dtau = Minv", call("aba_derivatives")[2], call("minv"), tolerance


def _compared(what: str, ours: Any, reference: Any, tolerance: float) -> Finding:
    pairs = list(zip(ours, reference, strict=True)) if isinstance(ours, tuple) else [(ours, reference)]
    error = max(float(np.abs(x - y).max() / max(float(np.abs(y).max()), 1e-300)) for x, y in pairs)
    return Finding(what, error <= tolerance, f"relative error {error:.1e}")
