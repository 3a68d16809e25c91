"""rbdgen: rigid-body dynamics from a URDF as plain C99, and as fast Python callables.

    import numpy as np
    import rbdgen
    robot = rbdgen.load_robot("arm7")
    lib = rbdgen.build(robot, functions=["rnea", "aba"])
    tau = lib.rnea(lib.neutral(), np.zeros(lib.nv), np.zeros(lib.nv))  # help(lib.rnea) tells what they are

Importing this loads neither CasADi nor SymPy nor cffi: they come when they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rbdgen.description.builder import RobotBuilder
from rbdgen.description.contacts import Contact, Frame, Loop, Point
from rbdgen.errors import OptionError, RbdgenError, StateWarning
from rbdgen.inertia.inertia import Inertia
from rbdgen.version import __version__

if TYPE_CHECKING:
    from rbdgen.formulas.equations import Equations
    from rbdgen.model.build import Robot
    from rbdgen.runtime import Library

__all__ = [
    "Frame",
    "Inertia",
    "Loop",
    "Point",
    "RbdgenError",
    "RobotBuilder",
    "StateWarning",
    "__version__",
    "build",
    "equations",
    "from_pinocchio",
    "generate",
    "generate_inertia",
    "load",
    "load_robot",
    "trace",
]


def __dir__() -> list[str]:
    """The public names, for completion; `errors` has the classes of errors."""
    return __all__


def load_robot(
    path: str | Path | RobotBuilder | Any,
    base: Literal["fixed", "floating"] | None = None,
    snap: float = 1e-9,
    gravity: Sequence[float] | None = None,
    *,
    xacro_args: Mapping[str, object] | None = None,
    lock: Mapping[str, float] | None = None,
    root: str | None = None,
    tip: str | None = None,
    damping: bool = False,
    friction: str | tuple[str, float] | None = None,
    armature: str | Path | Mapping[str, Any] | None = None,
    mimic: Literal["eliminate", "independent"] = "eliminate",
    loops: Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    independent: Sequence[str] = (),
    frames: Sequence[str] = (),
    contacts: Sequence[Contact] = (),
    contact_sets: Mapping[str, Sequence[str]] | None = None,
    order: Literal["name", "file"] | None = None,
    bounds: float = 1.0,
) -> Robot:
    """Read a robot's description and make its model.

    Args:
        path: a URDF, a xacro or an MJCF, whatever its name ends in; the name of a bundled robot, such as
            "arm7"; a `RobotBuilder`; or a `pinocchio.Model`, see `from_pinocchio`.
        base: "fixed" to the world, or "floating": a free root with a unit quaternion. None is what the file
            says: floating for an MJCF with a free joint, fixed for all else.
        snap: entries of fixed rotations this close to 0 become 0; 0 leaves them as written.
        gravity: in m/s^2, in world axes. None is what an MJCF or a Pinocchio model says, and (0, 0, -9.81)
            for all else.
        xacro_args: the arguments of a xacro, by name, as `NAME:=VALUE` of xacro; needs `rbdgen[xacro]`.
        lock: joints that do not move, with their positions, rad or m, such as {"finger": 0.02}.
        root: the link that becomes the root; only what it carries stays.
        tip: only the chain from the root to this link stays; what hangs off the chain is dropped, its mass
            as well. `robot.warnings` tells what was dropped.
        damping: whether the joints' viscous damping d is part of the functions, as torques d v.
        friction: None for none; "exact": their Coulomb friction f against the sign of v, 0 at rest (a joint
            does not stick); ("smooth", e): f v / sqrt(v^2 + e^2), e in rad/s or m/s.
        armature: rotors of motors, an SRDF with <rotor_params>, a TOML or a JSON file, or a dict: joint to
            the inertia that the joint feels in kg m^2 or kg, or to {"rotor_inertia": kg m^2, "gear_ratio":
            turns}. Rotors and springs that the description has are always part of the functions.
        mimic: "eliminate": mimic joints follow others, q has the others alone; "independent": they are
            joints like all others, as Pinocchio has them by default.
        loops: closed loops beside those of the description, each "FRAME1=FRAME2:KIND": frames are links, or
            "world"; KIND is "frame", which is what none means, or "point": their axes stay free. For example
            ["coupler_tip=rocker_tip:point"]. Functions `loop_...` are of them, all others of the open tree.
        ignore: what an MJCF has, no function knows, and is left out, where otherwise the file is refused:
            "all", or some of "actuator" (armature and damping of actuators), "equality" (constraints that
            are no closed loops, and couple no two joints linearly), "flex", "fluid", "gravcomp",
            "nonlinear" (springs and dampers), "plugin", "spring" (of ball and free joints), "tendon".
        independent: joints whose velocities say those of all other joints on closed loops, such as ["crank"];
            `loop_rnea`, `loop_crba` and `loop_aba` are dynamics by these velocities.
        frames: which frames the functions `frame_...` are of, in this order, such as ["tool0", "foot_*"]. A
            name is that of a link, of a fixed one too, of a joint (the frame that moves with it), of a site
            of an MJCF, or "world"; a pattern stands for all links and sites that match, in the order of the
            description. `robot.known_frames` has them all.
        contacts: places that the world, or another link, holds, in the order of their rows, such as
            [rbdgen.Point("lf", "front_left_foot"), rbdgen.Frame("l", "left_foot", (0.05, 0, -0.07))];
            `rbdgen.Loop` holds two links together. Functions `contact_...` and `delassus` are of them.
        contact_sets: some of the contacts by a name, such as {"trot": ["lf", "rh"]}: every function of
            contacts is also there for these alone, `contact_aba_trot`, with fewer rows and operations.
        order: of the joints below a link, which is depth first in all: "name", as Pinocchio has them when it
            reads a URDF, or "file", as they are written. None is "file" for an MJCF, so that q is in the
            order of `qpos`, and for a Pinocchio model; it is "name" for all else.
        bounds: how many times the default bounds of memory and work reading an MJCF or a xacro may take: 1 GB
            by the sizes that an MJCF writes, 20 000 elements, ten million steps of a xacro's expressions.

    Returns:
        The robot; `robot.warnings` says, with file and line, what of the file is odd or has no effect.

    Raises:
        RbdgenError: one line that says where, what is wrong and what to do.
    """
    from rbdgen.pipeline import robot  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return robot.load_robot(
        path,
        base,
        snap,
        gravity,
        xacro_args=xacro_args,
        lock=lock,
        root=root,
        tip=tip,
        damping=damping,
        friction=friction,
        armature=armature,
        mimic=mimic,
        loops=loops,
        ignore=ignore,
        independent=independent,
        frames=frames,
        contacts=contacts,
        contact_sets=contact_sets,
        order=order,
        bounds=bounds,
    )


def from_pinocchio(
    model: Any,
    snap: float = 1e-9,
    *,
    damping: bool = False,
    friction: str | tuple[str, float] | None = None,
    mimic: Literal["eliminate", "independent"] = "eliminate",
    frames: Sequence[str] = (),
    contacts: Sequence[Contact] = (),
    contact_sets: Mapping[str, Sequence[str]] | None = None,
) -> Robot:
    """The robot of a Pinocchio model, whose vectors then drop in; `load_robot(model)` is the same.

    Args:
        model: a `pinocchio.Model`. A free-flyer that carries all other joints, from the world's origin, is
            the floating base. A continuous joint has one coordinate here, its angle, and a planar joint has
            its angle in place of cosine and sine. Its `armature` is part of the functions, as in Pinocchio.
        snap: as in `load_robot`.
        damping: as in `load_robot`; the model's `damping` is part of no function of Pinocchio.
        friction: as in `load_robot`; likewise.
        mimic: of its mimic joints, as in `load_robot`.
        frames: as in `load_robot`; the model's frames, of any type, are known by their names.
        contacts: as in `load_robot`, on the model's frames.
        contact_sets: as in `load_robot`.

    Returns:
        The robot, with the model's gravity. `robot.warnings` says what of the model has no effect, and
        where its joints are in another order than rbdgen's, which is depth first.

    Raises:
        RbdgenError: another type of joint, by its name; one line.
    """
    from rbdgen.pipeline import robot  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return robot.from_pinocchio(
        model,
        snap,
        damping=damping,
        friction=friction,
        mimic=mimic,
        frames=frames,
        contacts=contacts,
        contact_sets=contact_sets,
    )


def build(
    robot: Robot | str | Path,
    functions: Sequence[str] | None = None,
    *,
    checks: bool = False,
    **options: Any,
) -> Library:
    """Generate, compile and load functions of a robot; kept in a cache by content.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or what `load_robot` takes first, such as a path.
        functions: names from the catalogue (`rbdgen list`), None for the default six, and for
            `frame_placement` and `frame_jacobian_aligned` where the robot has frames,
            `contact_aba`, `contact_jacobian` and `contact_motion` where it has contacts.
        checks: whether calls warn, by a `StateWarning`, of configurations that look like a mistake: once of a
            quaternion whose norm is not 1, of one in another order than x y z w, of angles that look like
            degrees, and of positions outside the limits. It costs some 20 us a call; without it nothing does.
        real: "double" (the default) or "float".
        params: numbers of the robot that stay inputs, such as ["mass:link7"]: `lib.update(p)` makes the table
            that functions then take last.
        packed: True for matrices that hold only what is not always 0, symmetric entries once.
        coordinates: True for NAME_vjp, NAME_jvp and NAME_hvp by the nq elements of q, not the nv of its
            tangent space.
        name: of the library and in its C; the robot's own by default.
        arch: the least processor that the code runs on: "native" (the default), "x86-64-v2", "x86-64-v3",
            "x86-64-v4" or "aarch64".
        contract: True lets the compiler fuse products and sums; the last bits then differ.
        trig: where sines and cosines come from: "builtin" (rbdgen's own, the default), "libm", or "input":
            functions take them in place of angles.
        variants: forms that are forced, by function, such as {"rnea": "looped"} (`rbdgen list --forms`).
        savings: False for the textbook's forms in the joints' own axes.
        engine: what traces the algorithms: "casadi" (the default), "sympy" or "graph".
        budget: operations; a function that would take more unrolled is refused. 2 000 000 by default.
        budget_flash: bytes; forms become smaller until all functions fit.
        emit: ["casadi"] writes functions for `casadi.external` too, with `knots` states a call (`generate`).
        target: "host" (the default) or "portable"; `generate` has those of small machines too, with `ram`, in
            bytes, for their functions' stack and arguments.

    Returns:
        The library: `lib.rnea(q, v, a)` takes and gives NumPy arrays, shapes (..., nq), (..., nv).

    Raises:
        RbdgenError: an unknown option or function, no compiler, and so on; one line.
    """
    from rbdgen.pipeline.asked import asked  # noqa: PLC0415
    from rbdgen.pipeline.page import build_library  # noqa: PLC0415
    from rbdgen.pipeline.robot import robot_of  # noqa: PLC0415

    robot = robot_of(robot)
    library = build_library(robot, asked("build", robot, functions, options))
    if checks:
        library.check_states()
    return library


def generate(
    robot: Robot | str | Path,
    out: str | Path = "generated",
    functions: Sequence[str] | None = None,
    *,
    compiled: bool = True,
    **options: Any,
) -> Path:
    """Write the folder `out/<name>`, as `rbdgen ROBOT.urdf -o out` does.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or what `load_robot` takes first, such as a path.
        out: the folder to write into; it is made where it is missing.
        functions: names from the catalogue (`rbdgen list`), None for those of `build`.
        compiled: whether to compile the Python package that the folder is for the target "host"; of a small
            machine, whether to take its figures. For other targets the folder holds C alone.
        options: as in `build`.

    Returns:
        The folder, which `load` opens where it was compiled for this machine.

    Raises:
        RbdgenError: as `build`, or a folder that cannot be written; one line. What was there stays whole.
    """
    from rbdgen.pipeline import page  # noqa: PLC0415
    from rbdgen.pipeline.asked import asked  # noqa: PLC0415
    from rbdgen.pipeline.robot import robot_of  # noqa: PLC0415

    robot = robot_of(robot)
    chosen = asked("generate", robot, functions, options)
    return page.generate(robot, chosen, page.folder_of(out), compiled=compiled).folder


def generate_inertia(
    out: str | Path = "generated",
    functions: Sequence[str] | None = None,
    *,
    compiled: bool = True,
    **options: Any,
) -> Path:
    """Write the operations of `Inertia` as C: the folder `out/inertia`, as `rbdgen inertia -o out` does.

    Args:
        out: the folder to write into; it is made where it is missing.
        functions: names such as "rotated", see `rbdgen inertia --help`; None for all.
        compiled: whether to compile it into a Python package, of NumPy arrays (..., 10).
        options: as in `build`, such as real="float" or target="cortex-m4f".

    Returns:
        The folder, which `load` opens where it was compiled for this machine.

    Raises:
        RbdgenError: as `generate`; one line.
    """
    from rbdgen.inertia.operations import OPERATIONS  # noqa: PLC0415
    from rbdgen.options import Options  # noqa: PLC0415
    from rbdgen.pipeline import page  # noqa: PLC0415

    options["functions"] = OPERATIONS if functions is None else functions
    return page.generate_inertia(Options.of(**options), page.folder_of(out), compiled=compiled).folder


def load(folder: str | Path) -> Library:
    """Open a folder that `rbdgen ROBOT.urdf` generated and compiled."""
    from rbdgen.pipeline.rebuild import open_built  # noqa: PLC0415

    return open_built(folder)


def equations(
    robot: Robot | str | Path,
    functions: str | Sequence[str] | None = None,
    symbols: str | Sequence[str] = "all",
    budget_terms: int = 1000,
) -> Equations:
    """The equations of motion of a small robot as closed, simplified formulas.

    `equations(robot).matrices` has the SymPy matrices "M", "C" and "g" of M(q) a + C(q, v) v + g(q) = tau in
    the symbols q1, v1, m1 and so on, `.values` what m1 and so on are. `.text()`, `.latex()` and `.html()` are
    for people.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or what `load_robot` takes first, such as a path.
        functions: some of "crba" (M), "coriolis" (C, by Christoffel's symbols: dM/dt - 2 C is skew without
            damping), "gravity" (g), "nle" (h = C v + g), "rnea" (tau), "kinetic_energy" (T) and
            "potential_energy" (U); None for M, C and g.
        symbols: which numbers become symbols, of each body with the links fixed to it: "masses" (m1, kg),
            "lengths" (l1 to the next joint, lc1 to the centre of mass, m), "inertias" (I1 about the centre of
            mass, in the body's axes, kg m^2), "gravity" (g, m/s^2); "all" or "none" of them.
        budget_terms: the most terms that all formulas together may have.

    Raises:
        RbdgenError: a name that is not known, a robot that is too large or has closed loops or Coulomb
            friction, for "coriolis" also a joint whose v is not dq/dt; one line.
    """
    from rbdgen.formulas.equations import equations_of  # noqa: PLC0415  (keeps `import rbdgen` quick)
    from rbdgen.pipeline.robot import robot_of  # noqa: PLC0415

    return equations_of(robot_of(robot), functions, symbols, budget_terms)


def trace(
    robot: Robot | str | Path,
    function: str,
    engine: str = "casadi",
    variant: str | None = None,
    *,
    closed: bool = False,
) -> Any:
    """The expression graph of a function, to use in one's own work.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or what `load_robot` takes first, such as a path.
        function: a name from the catalogue.
        engine: "casadi" gives a `casadi.Function` over SX, named ROBOT_FUNCTION, with the signature's inputs
            and outputs; "sympy" gives the intermediate quantities as (symbol, expression) in order and one
            matrix an output. Elements that are always 0 are no part of the sparsity of CasADi's matrices.
        variant: a form of the function by its name (`rbdgen list --forms`, the textbook's first) in the
            joints' own axes; None for what is emitted: the cheapest form, in the axes that save most, after
            all passes.
        closed: with "sympy", one matrix an output in closed, simplified expressions of q1, v1 and so on, no
            steps: for small robots and the functions of `equations`, which has masses as symbols too.
    """
    from rbdgen.pipeline.robot import robot_of  # noqa: PLC0415

    robot = robot_of(robot)
    if closed:
        if engine != "sympy" or variant is not None:
            raise OptionError("closed expressions are SymPy's and of no form; give engine='sympy' alone")
        return list(equations(robot, [function], "none").matrices.values())
    from rbdgen.emit.names import robot_identifier  # noqa: PLC0415
    from rbdgen.functions.table import lookup  # noqa: PLC0415
    from rbdgen.selection.expression import chosen_expression  # noqa: PLC0415
    from rbdgen.selection.trace import trace_expression  # noqa: PLC0415

    row, name = lookup(function, robot.model), f"{robot_identifier(robot.model.name)}_{function}"
    if variant is None:
        return chosen_expression(row, robot.model, engine, name)
    return trace_expression(robot.model, row, row.form_for(robot.model, variant), engine, name)
