"""Measures Pinocchio's C++, compiled from its headers with -O3 -march=native, by drivers beside this file.

It needs the packages `pin` (which brings `libpinocchio` and `cmeel-boost`) and Eigen's headers (in Debian:
libeigen3-dev). A driver takes minutes to compile, once per compiler; its object stays in benchmarks/build.
`python -m benchmarks.peers.pinocchio_cpp ROBOT.urdf [--floating] [--more LINK,LINK]` prints the times.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import toolchain
from benchmarks.measurement import Measurement, best, best_of_each
from benchmarks.states import SAME, Rows, States, random_states
from benchmarks.toolchain import Compiler, ToolError
from rbdgen.functions.table import ALL
from rbdgen.model.contacts import Contact

Values = dict[str, list[NDArray[np.float64]]]

DRIVER = Path(__file__).with_name("pinocchio_driver.cpp")
MORE_DRIVER = Path(__file__).with_name("pinocchio_more_driver.cpp")
DIFFERENCES_DRIVER = Path(__file__).with_name("pinocchio_differences_driver.cpp")
CONTACT_DRIVER = Path(__file__).with_name("pinocchio_contact_driver.cpp")
# 25 joint types overflow Boost's preprocessed lists of 20. Pinocchio's own libraries are not linked, because
# Eigen's matrices are not aligned there as with -march=native.
BOOST_LIMITS = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
FLAGS = ("-std=c++17", "-O3", "-DNDEBUG", "-march=native", "-w", *BOOST_LIMITS)
EIGEN = (Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3"))


def prefix() -> Path:
    """The folder into which the packages of Pinocchio and its libraries install headers and libraries.

    It is beside the importable `cmeel` module. Raises ToolError if Pinocchio's headers are not there.
    """
    cmeel = find_spec("cmeel")
    found = Path(cmeel.origin).parent.parent / "cmeel.prefix" if cmeel and cmeel.origin else None
    if found is None or not (found / "include/pinocchio/multibody.hpp").is_file():
        raise ToolError("Pinocchio's headers are not installed: pip install 'pin>=4'")
    return found


def include_flags() -> tuple[str, ...]:
    """The flags for the headers of Pinocchio, Boost and Eigen, Pinocchio's first.

    The last flag keeps the folder of the headers out of the object, so that every installation gives the same
    object. Raises ToolError if one of the libraries is not installed.
    """
    folder = prefix()
    if not (folder / "include/boost/variant.hpp").is_file():
        raise ToolError("Boost's headers are not installed: pip install cmeel-boost")
    eigen = next((path for path in EIGEN if (path / "Eigen/Core").is_file()), None)
    if eigen is None:
        raise ToolError("Eigen's headers are not installed: apt-get install libeigen3-dev")
    return (f"-isystem{folder / 'include'}", f"-isystem{eigen}", f"-fmacro-prefix-map={folder}=.")


def load_model(urdf: Path, *, floating: bool, frames: Sequence[str] = ()) -> Any:
    """The `pinocchio.Model` of a URDF, as Pinocchio reads it.

    The chosen `frames`, which are names of links, are its operational frames, in this order. Raises ToolError
    if there is no such link.
    """
    import pinocchio  # noqa: PLC0415  (optional)

    base = [pinocchio.JointModelFreeFlyer()] if floating else []
    model = pinocchio.buildModelFromUrdf(str(urdf), *base)
    for name in frames:
        if not model.existFrame(name, pinocchio.FrameType.BODY):
            raise ToolError(f"{urdf}: there is no link '{name}'; name one for its frame")
        link = model.frames[model.getFrameId(name, pinocchio.FrameType.BODY)]
        chosen = pinocchio.Frame(name, link.parentJoint, 0, link.placement, pinocchio.FrameType.OP_FRAME)
        model.addFrame(chosen)
    return model


def add_contacts(model: Any, contacts: Sequence[Contact]) -> None:
    """Adds contacts with the world to the model as frames; those of points have the type of sensors."""
    import pinocchio  # noqa: PLC0415  (optional)

    for contact in contacts:
        R, p = contact.first.placement
        placement = pinocchio.SE3(np.array([list(row) for row in R], float), np.array(list(p), float))
        kind = pinocchio.FrameType.SENSOR if contact.rows == 3 else pinocchio.FrameType.OP_FRAME
        model.addFrame(pinocchio.Frame(contact.name, contact.first.body + 1, 0, placement, kind))


def contact_rows(frame: Any) -> int:
    """The number of rows of a frame of the model as a contact: 3 for a point, 6 for a frame."""
    return 3 if frame.type == frame.type.SENSOR else 6


def chosen_frames(model: Any) -> list[Any]:
    """Pinocchio's frames that `load_model` chose or `add_contacts` added, in order."""
    import pinocchio  # noqa: PLC0415  (optional)

    added = (pinocchio.FrameType.OP_FRAME, pinocchio.FrameType.SENSOR)
    return [frame for frame in model.frames if frame.type in added]


def pinocchio_q(model: Any, q: Rows) -> Rows:
    """Rows of q in Pinocchio's convention, where a continuous joint has the cosine and sine of its angle."""
    columns = []
    at = 0
    for joint in list(model.joints)[1:]:
        if joint.nq == 2 and joint.nv == 1:
            columns += [np.cos(q[:, at]), np.sin(q[:, at])]
            at += 1
        else:
            columns += list(q[:, at : at + joint.nq].T)
            at += joint.nq
    return np.stack(columns, axis=1)


def write_model(model: Any, path: Path) -> None:
    """Writes the numbers of a `pinocchio.Model` as peers/model_file.hpp reads them."""
    lines = [_line(model.gravity.linear), str(model.njoints - 1)]
    for index in range(1, model.njoints):
        joint, placement, inertia = model.joints[index], model.jointPlacements[index], model.inertias[index]
        axis = _axis(model, joint)
        where = (axis, placement.rotation, placement.translation)
        # xx xy yy xz yz zz, about the centre of mass
        mass = ([inertia.mass], inertia.lever, inertia.inertia[np.tril_indices(3)])
        lines.append(f"{model.parents[index]} {joint.shortname()} {_line(*where, *mass)}")
    frames = chosen_frames(model)
    lines.append(str(len(frames)))
    for frame in frames:
        place = _line(frame.placement.rotation, frame.placement.translation)
        lines.append(f"{frame.parentJoint} {place} {contact_rows(frame)}")
    path.write_text("\n".join(lines) + "\n")


def _axis(model: Any, joint: Any) -> NDArray[np.float64]:
    """The axis of a joint with one degree of freedom, and zero for any other joint.

    It is taken from the motion subspace, since not every type of joint has its axis in Python.
    """
    if joint.nv != 1:
        return np.zeros(3)
    import pinocchio  # noqa: PLC0415  (optional)

    data = joint.createData()
    joint.calc(data, pinocchio.neutral(model))
    linear, angular = np.reshape(data.S, (2, 3))
    return np.asarray(linear + angular)


def write_states(model: Any, states: States, path: Path) -> None:
    """Writes states as peers/model_file.hpp reads them."""
    rows = np.hstack([pinocchio_q(model, states.q), states.v, states.a, states.tau])
    lines = [f"{len(states)} {model.nq} {model.nv}", *(_line(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def _line(*parts: Any) -> str:
    return " ".join(repr(float(x)) for part in parts for x in np.ravel(part))


@lru_cache
def build(compiler: Compiler, driver: Path) -> Path:
    """A driver's object for this machine; it takes minutes if the object is not in benchmarks/build yet."""
    return toolchain.cached_object(compiler, driver, FLAGS, include_flags())


def values(
    model: Any, states: States, *, driver: Path = DRIVER, compiler: Compiler = toolchain.GCC
) -> Values:
    """Runs a driver, and returns the outputs (states, size) of each function.

    Matrices are row-major and full, also symmetric ones.
    """
    table = _run(model, states, ["values"], driver=driver, compiler=compiler)
    return {
        name: [np.array(output) for output in zip(*per_state, strict=True)]
        for name, per_state in table.items()
    }


def measure(
    model: Any,
    states: States,
    *,
    driver: Path = DRIVER,
    compiler: Compiler = toolchain.GCC,
    relinks: int = 1,
    seconds: float = 0.2,
) -> dict[str, Measurement]:
    """The time of a call of each function of a driver in ns, by rbdgen's names.

    ABA and CRBA are timed in both of Pinocchio's conventions, and Jacobians of frames in both of its ways;
    the faster one is returned, with its name as the variant.
    """
    times: dict[str, list[float]] = {}
    words = ["time", str(seconds)]
    for draw in range(relinks):
        report = _run(model, states, words, driver=driver, compiler=compiler, draw=draw)
        for name, entry in report.items():
            times.setdefault(name, []).append(float(entry["ns"]))
    rivals: dict[str, list[Measurement]] = {}
    for name, link_ns in times.items():
        function, _, variant = name.partition(":")
        rivals.setdefault(function, []).append(Measurement(tuple(link_ns), compiler.version, FLAGS, variant))
    return {function: best(entries) for function, entries in rivals.items()}


def measure_best(
    model: Any,
    states: States,
    *,
    driver: Path = DRIVER,
    relinks: int = 3,
    seconds: float = 0.2,
    compilers: Sequence[Compiler] = (),
) -> dict[str, Measurement]:
    """The faster result of `measure` for each function, over some compilers or over all installed ones."""
    return best_of_each(
        [
            measure(model, states, driver=driver, compiler=compiler, relinks=relinks, seconds=seconds)
            for compiler in compilers or toolchain.available()
        ]
    )


def _run(
    model: Any, states: States, words: list[str], *, driver: Path, compiler: Compiler, draw: int = 0
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-pinocchio-") as folder:
        work = Path(folder)
        write_model(model, work / "model")
        write_states(model, states, work / "states")
        program = work / "driver"
        toolchain.link(compiler, [build(compiler, driver)], program, draw=draw)
        report: dict[str, Any] = json.loads(toolchain.run([program, work / "model", work / "states", *words]))
    return report


def has_reference(name: str) -> bool:
    """Whether Pinocchio's Python module has this function of rbdgen."""
    return name in ALL and ALL[name].pinocchio is not None


def reference_values(model: Any, states: States, k: int, name: str) -> list[NDArray[np.float64]]:
    """The outputs of a function of Pinocchio's Python module at state k."""
    from rbdgen.checks.pinocchio import outputs_of_state  # noqa: PLC0415  (optional)
    from rbdgen.functions.contacts.pinocchio import Held, Place  # noqa: PLC0415  (optional)

    data = model.createData()
    q = pinocchio_q(model, states.q[k : k + 1])[0]
    contacts = [
        Held(frame.name, contact_rows(frame), [Place(frame.parentJoint, frame.placement)])
        for frame in chosen_frames(model)
    ]
    same = {name: np.full(len(contacts) if name == "active" else 1, value) for name, value in SAME.items()}
    given = {**same, "q": q, "v": states.v[k], "a": states.a[k], "tau": states.tau[k]}
    return outputs_of_state(ALL[name], model, data, given, contacts=contacts)


def worst_error(got: Mapping[str, Sequence[NDArray[np.float64]]], model: Any, states: States) -> float:
    """The largest difference of outputs from those of the Python module, over all functions and states.

    It is relative to the largest entry of each output. A key of `got` is a function that `has_reference`, or
    `name:variant`.
    """
    errors = [0.0]
    for variant, outputs in got.items():
        name = variant.partition(":")[0]
        for k in range(len(outputs[0])):
            references = reference_values(model, states, k, name)
            for output, reference in zip(outputs, references, strict=True):
                scale = float(np.max(np.abs(reference))) or 1.0
                errors.append(float(np.max(np.abs(output[k].reshape(reference.shape) - reference))) / scale)
    return float(np.max(errors))  # NaN if any error is NaN


def main() -> None:
    """Prints microseconds per call for each function and compiler."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("urdf", type=Path)
    parser.add_argument("--floating", action="store_true", help="with a floating base")
    parser.add_argument(
        "--more",
        metavar="LINK,LINK",
        help="time the driver of other functions, with the frames of these links",
    )
    parser.add_argument("--relinks", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.2, help="time spent on each function and link")
    arguments = parser.parse_args()
    frames = arguments.more.split(",") if arguments.more else []
    driver = MORE_DRIVER if arguments.more else DRIVER
    model = load_model(arguments.urdf, floating=arguments.floating, frames=frames)
    states = random_states(model.nv, floating=arguments.floating)
    for compiler in toolchain.available():
        found = values(model, states.head(4), driver=driver, compiler=compiler)
        compared = {name: found[name] for name in found if has_reference(name.partition(":")[0])}
        print(f"{compiler.version}: relative error against the Python module", end=" ")
        print(f"{worst_error(compared, model, states):.1e}, of {', '.join(compared)}")
        effort = {"relinks": arguments.relinks, "seconds": arguments.seconds}
        for name, entry in measure(model, states, driver=driver, compiler=compiler, **effort).items():
            print(f"  {name:22} {entry.ns / 1000:8.3f} us  spread {entry.spread:.2f}  {entry.variant}")


if __name__ == "__main__":
    main()
