"""Compares distances, and their gradients, with those of Pinocchio and coal in C++ on the same capsules.

`make bench BENCH=--distances` prints a table per robot and writes results/distances_<robot>.json. The robots
are the bundled arm with its 15 pairs that are no neighbours, and Panda with 42 pairs and 8 spheres in the
world, which are 96 more. Programs of both sides run in turns; for each function and side, the smallest time
of all compilers and links is reported.

coal is the compiled library of its package, so its time is that of the library as it is installed. Everything
else on both sides is compiled for this processor.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from support.distances import arm, panda
from support.robots import BUNDLED, PANDA_COLLISION

import rbdgen
from benchmarks import toolchain
from benchmarks.bench import RESULTS, processor
from benchmarks.c_driver import CFunction, Programs, linked
from benchmarks.measurement import Measurement, best
from benchmarks.peers import pinocchio_cpp
from benchmarks.states import States, random_states
from benchmarks.toolchain import Compiler, ToolError
from rbdgen.functions.distances.nearest import Met, nearest
from rbdgen.functions.distances.placed import Placed
from rbdgen.model.model import Model
from rbdgen.model.robot import Robot
from rbdgen.options import Options
from rbdgen.pipeline.compilation import toolchain_of
from rbdgen.sweeps.inputs import State, coordinates
from rbdgen.toolchain.compiler import find_compiler
from rbdgen.toolchain.module import Toolchain

DRIVER: Final = Path(pinocchio_cpp.__file__).with_name("pinocchio_distances_driver.cpp")
FLAGS: Final = (*pinocchio_cpp.FLAGS, "-DEIGEN_MAX_ALIGN_BYTES=16")
"""Eigen's matrices are aligned as in coal's library, which is built without -march=native."""

OURS: Final = {"rbdgen": False, "rbdgen, contract": True}
"""Whether compilers may fuse products and sums, as they do by default in the peer's program."""

PEER = "pinocchio"

VALUES, GRADIENT = "distances", "distances_and_gradients"

STATES: Final = 16
"""The number of states through which calls cycle."""

SECONDS: Final = 0.05
"""The duration of one run of one link, in s."""

REGULAR: Final = 1e-3
"""The least distance of axes in m, and the least sine of their angle, at which gradients are compared."""

TOLERANCE: Final = 1e-6
"""The largest difference of a distance in m, or of an element of a gradient, that is accepted."""

Array = NDArray[np.float64]
Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A robot with capsules and pairs, and its URDF."""

    name: str
    load: Callable[[], Robot]
    urdf: Path


CASES: Final = (
    Case("arm7", arm, BUNDLED["arm7"]),
    Case("panda", panda, PANDA_COLLISION),
)


@dataclass(frozen=True)
class Peer:
    """Pinocchio's program, linked several times in a folder."""

    folder: Path

    def run(self, draw: int, *words: str) -> Json:
        paths = (self.folder / name for name in ("shapes", "model", "states"))
        found: Json = json.loads(toolchain.run([self.folder / f"peer{draw}", *paths, *words]))
        return found


def measure_all(names: Sequence[str], relinks: int) -> None:
    """Measures these robots, by default all, prints tables and writes the files of results.

    Raises ToolError for an unknown robot, and if a compiler or a library is missing.
    """
    cases = {case.name: case for case in CASES}
    for name in names or cases:
        if name not in cases:
            raise ToolError(f"--distances has no robot {name}; choose from: {', '.join(cases)}")
        print(f"{name}: generating and measuring distances", file=sys.stderr, flush=True)
        found = report(cases[name], relinks)
        Console(width=130).print(table(found))
        (RESULTS / f"distances_{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def report(case: Case, relinks: int) -> Json:
    """Times and operations of both functions, with the largest differences of the results.

    Raises:
        ToolError: a compiler or a library is missing, or both sides have other values.
    """
    robot = case.load()
    own, inputs = robot.model.distances, drawn(robot.model)
    regular = conditioned(robot.model, inputs)
    times: dict[str, dict[str, list[Measurement]]] = {
        name: {who: [] for who in (*OURS, PEER)} for name in (VALUES, GRADIENT)
    }
    with tempfile.TemporaryDirectory(prefix="bench-distances-") as place:
        folder = Path(place)
        both = {GRADIENT: [VALUES, "distance_jacobian"]}
        generated = rbdgen.generate(
            robot, folder / "generated", functions=[VALUES], together=both, compiled=False
        )
        facts = json.loads((generated / "manifest.json").read_text(encoding="utf-8"))["functions"]
        write_inputs(case, robot.model, inputs, folder)
        for compiler in toolchain.available():
            with ExitStack() as stack:
                sides = {
                    (name, who): stack.enter_context(
                        linked_function(
                            facts[name], generated, inputs, compiler, own_flags(compiler, who), relinks
                        )
                    )
                    for name in times
                    for who in OURS
                }
                peer = linked_peer(folder, compiler, relinks)
                for (name, who), of in in_turns(sides, peer, relinks).items():
                    flags = FLAGS if who == PEER else own_flags(compiler, who)
                    times[name][who].append(Measurement(tuple(of), compiler.version, flags))
                theirs = peer.run(0, "values")
                errors = {
                    name: max(difference(theirs[name], sides[name, who].outputs(), regular) for who in OURS)
                    for name in times
                }
    return {
        "robot": case.name,
        "machine": processor(),
        "pairs": len(own.own),
        "pairs_with_obstacles": len(own.pairs) - len(own.own),
        "form": own.segments,
        "functions": {
            name: {
                "operations": facts[name]["operations"]["total"],
                "error": errors[name],
                "ratio": {who: round(best(found[PEER]).ns / best(found[who]).ns, 2) for who in OURS},
                "times": {who: best(of).to_json() for who, of in found.items()},
            }
            for name, found in times.items()
        },
    }


def drawn(model: Model) -> dict[str, Array]:
    """Random configurations, and spheres that are the same at all of them."""
    states = random_states(model.sizes["nv"], floating=False, count=STATES)
    count = model.distances.obstacles.spheres
    spheres = np.random.default_rng(1).uniform(-1, 1, (count, 4))
    spheres[:, 3] = 0.05
    found = {"q": states.q}
    return found | {"spheres": np.tile(spheres.ravel(), (STATES, 1))} if count else found


def own_flags(compiler: Compiler, who: str) -> tuple[str, ...]:
    """The flags with which rbdgen compiles functions on this machine."""
    host = toolchain_of(Options(contract=OURS[who]))
    return tuple(Toolchain(find_compiler(compiler.c), host.flags).function_flags)


@contextmanager
def linked_function(
    facts: Mapping[str, Any],
    folder: Path,
    inputs: Mapping[str, Array],
    compiler: Compiler,
    flags: Sequence[str],
    links: int,
) -> Iterator[Programs]:
    """The programs that time a generated function."""
    taken, given = (tuple(prod(x["shape"]) for x in facts[k]) for k in ("inputs", "outputs"))
    shape = CFunction(facts["symbol"], taken, given)
    arrays = [inputs[x["name"]] for x in facts["inputs"]]
    with linked(
        shape, [folder / facts["source"]], arrays, compiler=compiler, flags=flags, links=links
    ) as found:
        yield found


def linked_peer(folder: Path, compiler: Compiler, links: int) -> Peer:
    """Pinocchio's program in a folder with its inputs."""
    libraries = pinocchio_cpp.prefix() / "lib"
    if not (libraries / "libcoal.so").exists():
        raise ToolError("coal's library is not installed: pip install coal")
    driver = toolchain.cached_object(compiler, DRIVER, FLAGS, pinocchio_cpp.include_flags())
    for draw in range(links):
        toolchain.link(
            compiler,
            [driver],
            folder / f"peer{draw}",
            draw=draw,
            libraries=(f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lcoal"),
        )
    return Peer(folder)


def in_turns(
    sides: Mapping[tuple[str, str], Programs], peer: Peer, links: int
) -> dict[tuple[str, str], list[float]]:
    """The times of all links in ns, by function and side."""
    found: dict[tuple[str, str], list[float]] = {}
    for draw in range(links):
        for name, entry in peer.run(draw, "time", str(SECONDS)).items():
            found.setdefault((name, PEER), []).append(float(entry["ns"]))
        for key, side in sides.items():
            found.setdefault(key, []).append(side.time(draw, SECONDS))
    return found


def write_inputs(case: Case, model: Model, inputs: Mapping[str, Array], folder: Path) -> None:
    """Writes the files that the peer's program reads."""
    peer = pinocchio_cpp.load_model(case.urdf, floating=False)
    nothing = np.zeros((STATES, peer.nv))
    pinocchio_cpp.write_model(peer, folder / "model")
    pinocchio_cpp.write_states(peer, States(inputs["q"], nothing, nothing, nothing), folder / "states")
    spheres = inputs.get("spheres", np.zeros((1, 0)))[0].reshape(-1, 4)
    (folder / "shapes").write_text(shapes_text(model, list(peer.names), spheres), encoding="utf-8")


def shapes_text(model: Model, joints: Sequence[str], spheres: Array) -> str:
    """Capsules, spheres of the world and pairs as the driver reads them. `joints` has the peer's names."""
    import pinocchio  # noqa: PLC0415  (optional)

    own = model.distances
    lines = [str(len(own.capsules) + len(spheres))]
    for one in own.capsules:
        joint = joints.index(model.bodies[one.body].joint.name) if one.body >= 0 else 0
        center, axis = (np.array([float(x) for x in v]) for v in (one.center, one.axis))
        R = pinocchio.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).toRotationMatrix()
        lines.append(_line(joint, one.radius, one.half_length, *R.ravel(), *center))
    lines += [_line(0, ball[3], 0.0, *np.eye(3).ravel(), *ball[:3]) for ball in spheres]
    lines.append(str(len(own.pairs)))
    for pair in own.pairs:
        first = pair.first if pair.kind is None else len(own.capsules) + pair.first
        lines.append(f"{first} {pair.second}")
    return "\n".join(lines) + "\n"


def _line(*numbers: Any) -> str:
    return " ".join(f"{x}" if isinstance(x, int) else repr(float(x)) for x in numbers)


def conditioned(model: Model, inputs: Mapping[str, Array]) -> NDArray[np.bool_]:
    """The pairs (STATES, npairs) whose gradient is well conditioned: with axes that neither meet nor are
    parallel, where it is not unique.
    """
    found = []
    for k, q in enumerate(inputs["q"]):
        arrays = {name: rows[k].tolist() for name, rows in inputs.items() if name != "q"}
        x = State(q=coordinates(model, q.tolist(), np.cos, np.sin), arrays=arrays)
        found.append([_is_regular(met) for met in nearest(Placed.at(model, x))])
    return np.array(found)


def _is_regular(met: Met) -> bool:
    if float(met.at.length) < REGULAR:
        return False
    if met.one is None or met.one.is_sphere or met.other.is_sphere:
        return True
    across = met.one.axis.cross(met.other.axis)
    return float(across.dot(across)) > REGULAR**2


def difference(theirs: Any, ours: Sequence[NDArray[np.floating]], regular: NDArray[np.bool_]) -> float:
    """The largest difference of distances, and of gradients of the pairs that are `regular`.

    Raises ToolError if it is more than rounding.
    """
    d = np.array([state[0] for state in theirs])
    worst = float(np.abs(d - ours[0]).max())
    if len(ours) > 1:
        J = np.array([state[1] for state in theirs]).reshape(*d.shape, -1)
        apart = np.abs(J - ours[1].reshape(J.shape)).max(axis=2)
        worst = max(worst, float(apart[regular].max()))
    if not worst < TOLERANCE:
        raise ToolError(f"results are {worst:g} off from those of Pinocchio and coal")
    return worst


def lines_of_page(found: Json) -> list[str]:
    """The results as lines of the table in docs/distances.md."""
    count = found["pairs"] + found["pairs_with_obstacles"]
    lines = []
    for name, row in found["functions"].items():
        times = [f"{row['times'][who]['ns'] / 1000:.2f}" for who in (PEER, *OURS)]
        ratios = " / ".join(f"{row['ratio'][who]:.1f}" for who in OURS)
        what = "with gradients" if name == GRADIENT else "distances"
        cells = (f"{found['robot']}, {count} pairs", what, str(row["operations"]), *times, ratios)
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def table(found: Json) -> Table:
    """The report of a robot."""
    pairs = f"{found['pairs']} pairs" + (
        f" and {n} with obstacles" if (n := found["pairs_with_obstacles"]) else ""
    )
    made = Table(title=f"{found['robot']}, {pairs}", caption=found["machine"])
    headings = [f"{who}, us" for who in (*OURS, PEER)] + [f"times as fast: {who}" for who in OURS]
    for heading in ("function", "operations", *headings, "error"):
        made.add_column(heading, justify="left" if heading == "function" else "right")
    for name, row in found["functions"].items():
        times = [f"{row['times'][who]['ns'] / 1000:.3f}" for who in (*OURS, PEER)]
        ratios = [f"{row['ratio'][who]:.1f}" for who in OURS]
        made.add_row(name, str(row["operations"]), *times, *ratios, f"{row['error']:.0e}")
    return made
