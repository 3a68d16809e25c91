"""The checks of `rbdgen check`: that the code in a generated folder is right on this machine.

The emitted self-test is compiled again and run. The identities of the dynamics are evaluated at random
states. If Pinocchio is installed, every function is compared with it on the model in the manifest.
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

from rbdgen.errors import BuildError, OptionError
from rbdgen.functions.differentiated import mode_of
from rbdgen.functions.function import Function
from rbdgen.functions.own_rows import own_rows
from rbdgen.functions.table import ALL, lookup, sets_of
from rbdgen.functions.whole import whole_of
from rbdgen.model.build import Robot
from rbdgen.options import Options, environment_compiler
from rbdgen.own.asked import compositions
from rbdgen.own.text import Own
from rbdgen.pipeline.page import generate
from rbdgen.pipeline.progress import Progress, silent
from rbdgen.relative_error import relative_errors
from rbdgen.runtime import Library, open_library
from rbdgen.signature import UPDATE
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.targets import target_named
from rbdgen.wording import option

STATES = 20
TOLERANCE = {"double": 1e-9, "float": 1e-2}
"""The limits of max |difference| / max |reference| by precision. Even identities of ill-conditioned robots
stay within them.
"""


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    what: str
    """The property that was checked."""
    passed: bool | None
    """Whether the check passed; None if it was left out."""
    figure: str
    """A figure, such as the measured error, or the reason why the check was left out."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def check(folder: Path) -> list[Finding]:
    """Run all checks of a generated and compiled folder, and return the results.

    It warns if `neutral()` is outside the joint limits.

    Raises LoadError, BuildError, and OptionError if a function is not in the catalogue.
    """
    library = open_library(folder)
    library.plausible.tell("lib.neutral()", library.neutral()[None])
    findings = list(_selftests(folder, library))
    if not library.manifest["nbodies"]:  # operations on inertias: no robot's dynamics to compare
        return findings
    sets, own = sets_of(library.manifest), own_rows(library.manifest)
    names = [name for name in library.functions if name != UPDATE and not _lone(name, library)]
    rows = [lookup(name, sets=sets, own=own) for name in names]
    mine = [row for row in rows if _own_name(row) in own]
    rows = [row for row in rows if row not in mine]
    for name in own:
        of_one = [row for row in mine if _own_name(row) == name]
        findings += _identities(library, of_one, states(library, of_one))
    held = dict.fromkeys(row.contacts for row in rows)
    for contacts in held:
        findings += _identities(library, *_of_contacts(library, rows, contacts))
    if find_spec("pinocchio") is None:
        reason = "Pinocchio is not installed; pip install pin"
        return [*findings, Finding("comparison with Pinocchio", None, reason)]
    for contacts in held:
        findings += _references(library, *_of_contacts(library, rows, contacts))
    for row in rows:
        if row.pinocchio is None:
            findings.append(
                Finding(f"{row.name} = Pinocchio's", None, "rbdgen does not compare this function with it")
            )
    return findings


def _own_name(row: Function) -> str:
    """The name of the function that a row differentiates, or of the row."""
    while (made := row.differentiated or row.whole) is not None:
        row = made.of
    return row.name


def _lone(name: str, library: Library) -> bool:
    """Whether a function is the derivative of a user's own function that the folder does not have."""
    base = name
    while (derived := mode_of(base) or (whole_of(base) if base not in ALL else None)) is not None:
        base, _ = derived
    lacks = base not in library.functions and base not in ALL
    return lacks and not any(base.endswith(f"_{chosen.name}") for chosen in sets_of(library.manifest))


def check_robot(
    robot: Robot, options: Options, progress: Progress = silent, own: Sequence[Own] = ()
) -> list[Finding]:
    """All checks of the folder that would be generated; nothing of it is kept. The user's own functions among
    `options` are also compared with their texts on floats.

    Raises what `generate` and `check` raise, and OptionError if the code would not run here.
    """
    if target_named(options.target).prefix:
        raise OptionError(
            f"{option('target', options.target)}: checked on this machine; take {option('target', 'host')}"
        )
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as scratch:
        folder = generate(
            robot, options, Path(scratch), progress=progress, own=compositions(own, options.functions, robot)
        ).folder
        library = open_library(folder)
        asked = (function for function in own if function.name in library.functions)
        return [*check(folder), *(_text(robot, library, function) for function in asked)]


def _text(robot: Robot, library: Library, function: Own) -> Finding:
    """The comparison of a compiled function with the user's text on floats."""
    compiled = library.functions[function.name]
    if library.parameters.names or library.manifest["trig"] == "input":
        return Finding(f"{function.name} = {function.told}", None, "parameters or sines are inputs")
    inputs = library.manifold.random_inputs(compiled.signature.inputs, np.random.default_rng(1), (STATES,))
    expected = [_as_tuple(function(robot, *(x[k] for x in inputs.values()))) for k in range(STATES)]
    ours = compiled.dense(compiled(*inputs.values()))
    tolerance = TOLERANCE[library.manifest["real"]]
    told = tuple(np.stack(values) for values in zip(*expected, strict=True))
    return _compared(f"{function.name} = {function.told}", ours, told, tolerance)


def _of_contacts(
    library: Library, rows: Sequence[Function], contacts: tuple[str, ...] | None
) -> tuple[list[Function], dict[str, Any]]:
    """The functions that are restricted to these contacts (None: those that are not restricted), and random
    inputs for them and for functions without contacts.
    """
    taken = [row for row in rows if row.contacts == contacts or not row.of_contacts]
    return [row for row in rows if row.contacts == contacts], states(library, taken)


def states(library: Library, rows: Sequence[Function], count: int = STATES) -> dict[str, Any]:
    """Random inputs of functions and of their rows in the table, which have q even with `--trig input`."""
    names = ("nq", "nv", "nbodies", "nloop", "nindependent", "nf")
    sizes = {name: library.manifest.get(name, 0) for name in names}
    sizes["np"] = len(library.parameters.names)
    functions = [library.functions[row.name] for row in rows]
    taken = [x for function in functions for x in function.signature.inputs]
    given = {x.name for x in taken}
    further = [x for row in rows for x in row.signature.inputs if x.name not in given]
    # inputs with other sizes are those of options that the folder does not have
    taken += [x.sized(sizes) for x in further if all(n in sizes for n in x.shape if isinstance(n, str))]
    return library.manifold.random_inputs(taken, np.random.default_rng(1), (count,))


def _selftests(folder: Path, library: Library) -> Iterator[Finding]:
    """The folder's own programs: golden vectors, and if it has batches, batches against single calls."""
    name = library.name
    sources = [facts["source"] for facts in library.manifest["functions"].values()]
    yield _selftest("emitted self-test", folder, [*sources, f"selftest/{name}_selftest.c"])
    batches = f"selftest/{name}_batch_selftest.c"
    if batches in library.manifest["files"]:
        batch_functions = [
            batch_function
            for source in sources
            if (folder / (batch_function := f"{source[:-2]}_batch.c")).is_file()
        ]
        yield _selftest("batches of any size, bit for bit", folder, [*sources, *batch_functions, batches])


def _selftest(what: str, folder: Path, sources: Sequence[str]) -> Finding:
    """Compile these sources, one of which has a main function, and run the program."""
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
    return function.dense(function(*(inputs[argument.name] for argument in function.signature.inputs)))


def _identities(library: Library, rows: Sequence[Function], inputs: dict[str, Any]) -> Iterator[Finding]:
    """Check the identities of these functions. Identities that need a function that the library does not have
    are left out.
    """
    tolerance = TOLERANCE[library.manifest["real"]]

    def call(name: str, **changed: Any) -> Any:
        return _call(library, name, inputs | changed)

    for identity in (identity for row in rows for identity in row.identities):
        missing = [name for name in identity.functions if name not in library.functions]
        if missing:
            yield Finding(
                identity.what, None, f"needs {' and '.join(missing)}, which this folder does not have"
            )
        else:
            yield _compared(identity.what, *identity.sides(call, inputs), tolerance)


def _references(library: Library, rows: Sequence[Function], inputs: dict[str, Any]) -> Iterator[Finding]:
    """Compare the functions that have a reference by Pinocchio with this reference."""
    from rbdgen.checks.pinocchio import reference  # noqa: PLC0415  (an optional oracle)

    tolerance = TOLERANCE[library.manifest["real"]]
    for name, expected in reference(library.manifest, rows, inputs).items():
        yield _compared(f"{name} = Pinocchio's", _call(library, name, inputs), expected, tolerance)


def _compared(what: str, ours: Any, reference: Any, tolerance: float) -> Finding:
    """The comparison of results with a reference, by an error relative to the largest value of an output at
    any of the states.
    """
    pairs = zip(_as_tuple(ours), _as_tuple(reference), strict=True)
    error = float(np.max([relative_errors(x, y, np.abs(y).max()).max() for x, y in pairs]))
    return Finding(what, error <= tolerance, f"relative error {error:.1e}")


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)
