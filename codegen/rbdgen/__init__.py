"""rbdgen: rigid-body dynamics of a robot as plain C99, and as fast Python functions.

    import numpy as np
    import rbdgen
    robot = rbdgen.load_robot("arm7")
    lib = rbdgen.build(robot, functions=["rnea", "aba"])
    tau = lib.rnea(lib.neutral(), np.zeros(lib.nv), np.zeros(lib.nv))  # help(lib.rnea) explains the arguments

Importing rbdgen does not import CasADi, SymPy or cffi; they are imported on first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rbdgen.description.builder import RobotBuilder
from rbdgen.description.contacts import Contact, Frame, Loop, Point, Sole
from rbdgen.errors import OptionError, RbdgenError, StateWarning
from rbdgen.inertia.inertia import Inertia
from rbdgen.version import __version__

if TYPE_CHECKING:
    from rbdgen.formulas.equations import Equations
    from rbdgen.model.build import Robot
    from rbdgen.own.text import Own

    # fmt: off
    # isort: off
    from rbdgen.own.public import (
        Quantity, array, cholesky, congruence, cross, exp3, from_casadi, from_sympy, function, inv, log3,
        norm, quaternion_inverse, quaternion_product, rotation, skew, solve, zeros,
    )
    # fmt: on
    # isort: on
    from rbdgen.runtime import Library

# fmt: off
__all__ = [
    "Frame", "Inertia", "Loop", "Point", "Quantity", "RbdgenError", "RobotBuilder", "Sole", "StateWarning",
    "__version__", "array", "build", "cholesky", "congruence", "cross", "equations", "exp3", "from_casadi",
    "from_pinocchio", "from_sympy", "function", "generate", "generate_inertia", "inv", "load", "load_robot",
    "log3", "norm", "quaternion_inverse", "quaternion_product", "rotation", "skew", "solve", "trace", "zeros",
]
# fmt: on


def __dir__() -> list[str]:
    """The public names, for completion. The classes of errors are in `errors`."""
    return __all__


def __getattr__(name: str) -> Any:
    """The names for functions of a user's own, which are imported on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'rbdgen' has no attribute '{name}'")
    from rbdgen.own import public  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return getattr(public, name)


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
    contacts_from_collision: Sequence[str] = (),
    contact_sets: Mapping[str, Sequence[str]] | None = None,
    contact_solver: Sequence[int] | None = None,
    order: Literal["name", "file"] | None = None,
    bounds: float = 1.0,
) -> Robot:
    """Reads a robot's description and makes its model.

    Args:
        path: a URDF, xacro or MJCF file, recognised by its content; the name of a bundled robot, such as
            "arm7"; a `RobotBuilder`; or a `pinocchio.Model`, see `from_pinocchio`.
        base: "fixed" if the root is fixed to the world, or "floating" if it moves freely, with a unit
            quaternion. None means floating for an MJCF with a free joint, and fixed for all others.
        snap: entries of fixed rotations whose distance from 0 is at most this become 0.
        gravity: the gravity in world axes, m/s^2. None means that of the MJCF or Pinocchio model, and
            (0, 0, -9.81) for all others.
        xacro_args: the arguments of a xacro by name, as `NAME:=VALUE` of xacro; needs `rbdgen[xacro]`.
        lock: joints that are kept at these positions, rad or m, such as {"finger": 0.02}.
        root: the link that becomes the root; only the links below it are kept.
        tip: the last link of a chain from the root; only this chain is kept. All other links are dropped with
            their mass; `robot.warnings` lists them.
        damping: whether the functions include the viscous damping d of the joints, as torques d v.
        friction: None for no Coulomb friction; "exact" for torques f sign(v), which are 0 at rest, so that
            joints do not stick; ("smooth", e) for torques f v / sqrt(v^2 + e^2), with e in rad/s or m/s.
        armature: the rotors of motors: an SRDF with <rotor_params>, a TOML or a JSON file, or a dict. It maps
            joints to the rotor's inertia reflected to the joint, kg m^2 or kg, or to {"rotor_inertia": kg
            m^2, "gear_ratio": turns}. Rotors and springs of the description are always included.
        mimic: "eliminate": joints that mimic others follow them, and are no part of q. "independent": they
            are joints like all others, as in Pinocchio by default.
        loops: closed loops in addition to those of the description, each "FRAME1=FRAME2:KIND". A frame is a
            link or "world". KIND is "frame", the default, if the frames coincide, or "point" if only their
            origins do: ["coupler_tip=rocker_tip:point"]. Only functions `loop_...` include them; all others
            are for the open tree.
        ignore: unsupported features that are left out of an MJCF; without it, a file that has them is
            refused. "all", or some of "actuator" (armature and damping of actuators), "equality" (constraints
            that are neither closed loops nor linear couplings of two joints), "flex", "fluid", "gravcomp",
            "nonlinear" (springs and dampers), "plugin", "spring" (of ball and free joints), "tendon".
        independent: joints whose velocities determine those of all other joints on closed loops, such as
            ["crank"]. `loop_rnea`, `loop_crba` and `loop_aba` are the dynamics in these velocities.
        frames: the frames of the functions `frame_...`, in this order, such as ["tool0", "foot_*"]. A name is
            that of a link (which may be fixed to its parent), of a joint (the frame that moves with it), of a
            site of an MJCF, or "world". A pattern stands for all links and sites that match, in the order of
            the description. `robot.known_frames` lists all names.
        contacts: constraints on points and frames of links, in the order of their rows, such as
            [rbdgen.Point("lf", "front_left_foot"), rbdgen.Frame("l", "left_foot", (0.05, 0, -0.07))];
            `Sole` is a flat foot. `Loop` keeps two links together. They serve `contact_...` and `delassus`.
        contacts_from_collision: links whose shapes for collision become further contacts, such as
            ["*_foot"]: spheres, ends of capsules, and corners of boxes ("left_foot:-z" for one side).
        contact_sets: subsets of the contacts by name, such as {"trot": ["lf", "rh"]}. Every function of
            contacts also exists for each subset, such as `contact_aba_trot`, with fewer rows and operations.
        contact_solver: the iterations of `contact_step`: sweeps over the contacts, Newton steps, and sweeps
            between Newton steps. None means (3, 2, 0), and with soles (4, 2, 0).
        order: the order of the joints below each link, which are numbered depth first: "name" as Pinocchio
            reads a URDF, "file" as in the file. None means "file" for an MJCF or a Pinocchio model.
        bounds: a factor on the bounds of memory and work that keep reading a robot within 10 s and 1 GB, such
            as 20 MB for a file and 10 000 links; see docs/descriptions.md.

    Returns:
        The robot. `robot.warnings` lists the parts of the file that look wrong or have no effect, with file
        and line.

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
        contacts_from_collision=contacts_from_collision,
        contact_sets=contact_sets,
        contact_solver=contact_solver,
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
    contact_solver: Sequence[int] | None = None,
) -> Robot:
    """The robot of a Pinocchio model; `load_robot(model)` returns the same robot.

    Args:
        model: a `pinocchio.Model`. A free-flyer at the world's origin that carries all other joints is the
            floating base. The coordinate of a continuous joint is its angle, and a planar joint has an angle
            in place of a cosine and a sine; all else in q and v is as in Pinocchio. The functions include
            `armature`, as Pinocchio's do.
        snap: as in `load_robot`.
        damping: as in `load_robot`. Pinocchio's functions ignore the model's `damping`.
        friction: as in `load_robot`. Pinocchio's functions ignore the model's friction.
        mimic: as in `load_robot`.
        frames: as in `load_robot`; names are those of the model's frames, of any type.
        contacts: as in `load_robot`, on the model's frames.
        contact_sets: as in `load_robot`.
        contact_solver: as in `load_robot`.

    Returns:
        The robot, with the model's gravity. `robot.warnings` lists the parts of the model that have no
        effect. A further warning appears if the model does not number its joints depth first, as rbdgen does.

    Raises:
        RbdgenError: the model has an unsupported type of joint; the message, one line, names it.
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
        contact_solver=contact_solver,
    )


def build(
    robot: Robot | str | Path,
    functions: Sequence[str | Own] | None = None,
    *,
    checks: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> Library:
    """Generates, compiles and loads functions of a robot; a cache keeps compiled functions.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or the first argument of `load_robot`, such as a path.
        functions: the names of functions (`rbdgen list`), and functions of your own, which
            `rbdgen.function` makes. None means the default six,
            `frame_placement` and `frame_jacobian_aligned` if the robot has frames, and
            `contact_aba`, `contact_jacobian` and `contact_motion` if it has contacts.
        checks: whether calls warn of configurations that look like a mistake: quaternions whose norm is not 1
            or whose order is not x y z w, angles that look like degrees, and positions outside the limits.
            Each kind gives one `StateWarning`. The checks take some 7 us per call.
        progress: whether to report on standard error which functions are designed and compiled and how many
            come from the cache. This includes derivatives that CasADi, JAX and PyTorch need later. None
            reports in terminals and notebooks if the work takes more than two seconds.
        real: "double" (the default) or "float".
        params: parameters of the robot that stay inputs, such as ["mass:link7"], or ["logchol:link7"], ten
            numbers that give a physical inertia whatever their values are. `lib.update(p)` computes a table
            from the values p, and functions take this table as their last argument.
        packed: whether matrices only hold elements that are not always 0, and symmetric elements once.
        coordinates: whether NAME_vjp, NAME_jvp and NAME_hvp differentiate with respect to the nq elements of
            q, rather than the nv elements of its tangent space.
        own: further functions of your own, to which names such as "reach_vjp" may refer.
        name: the name of the library and the prefix in its C; by default the robot's name.
        arch: the oldest processor on which the code runs: "native" (the default), "x86-64-v2", "x86-64-v3",
            "x86-64-v4" or "aarch64".
        contract: whether the compiler may fuse products and sums, which changes the last bits.
        trig: the source of sines and cosines: "builtin" (rbdgen's own, the default), "libm", or "input";
            with "input", functions take sines and cosines in place of angles.
        variants: forms to use, by function, such as {"rnea": "looped"} (`rbdgen list --forms`).
        savings: False for the textbook's forms in the joints' own axes.
        engine: the library that traces the algorithms: "casadi" (the default), "sympy" or "graph".
        budget: the largest number of operations of an unrolled function, by default 2 000 000.
        budget_flash: the flash, in bytes, that functions may take; forms become smaller until they fit.
        emit: ["casadi"] also writes functions for `casadi.external`; ["casadi:32"] adds functions that take
            32 states per call. ["javascript"] also writes the functions as an ES module in JavaScript.
        target: "host" (the default) or "portable". `generate` also has "wasm32", for web pages, and small
            machines, for which `ram` bounds the stack and the arguments of functions, in bytes.

    Returns:
        The library. `lib.rnea(q, v, a)` takes and returns NumPy arrays with shapes (..., nq) and (..., nv).

    Raises:
        RbdgenError: an unknown option or function, no compiler, and so on; one line.
    """
    from rbdgen.pipeline import calls  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return calls.build(robot, functions, checks, progress, options)


def generate(
    robot: Robot | str | Path,
    out: str | Path = "generated",
    functions: Sequence[str | Own] | None = None,
    *,
    compiled: bool = True,
    progress: bool | None = None,
    **options: Any,
) -> Path:
    """Writes the folder `out/<name>`, as `rbdgen ROBOT.urdf -o out` does.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or the first argument of `load_robot`, such as a path.
        out: the folder in which `<name>` is written; it is created if it is missing.
        functions: the names of functions (`rbdgen list`) and functions of your own; None means those of
            `build`.
        compiled: whether to compile: for the target "host" the Python package, which other folders do not
            have; for "wasm32" the module; for a small machine, to measure flash and stack.
        progress: as in `build`.
        options: as in `build`.

    Returns:
        The folder, which `load` opens if it was compiled for this machine.

    Raises:
        RbdgenError: as for `build`, or the folder cannot be written; the folder then stays as it was. The
            message is one line.
    """
    from rbdgen.pipeline import calls  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return calls.generate(robot, out, functions, compiled, progress, options)


def generate_inertia(
    out: str | Path = "generated",
    functions: Sequence[str] | None = None,
    *,
    compiled: bool = True,
    progress: bool | None = None,
    **options: Any,
) -> Path:
    """Writes the operations of `Inertia` as C: the folder `out/inertia`, as `rbdgen inertia -o out` does.

    Args:
        out: the folder in which `inertia` is written; it is created if it is missing.
        functions: the names of operations, such as "rotated", see `rbdgen inertia --help`; None means all.
        compiled: whether to compile a Python package, whose functions take NumPy arrays (..., 10).
        progress: as in `build`.
        options: as in `build`, such as real="float" or target="cortex-m4f".

    Returns:
        The folder, which `load` opens if it was compiled for this machine.

    Raises:
        RbdgenError: as for `generate`; one line.
    """
    from rbdgen.pipeline import calls  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return calls.generate_inertia(out, functions, compiled, progress, options)


def load(folder: str | Path) -> Library:
    """Opens a folder that `generate`, or `rbdgen ROBOT.urdf`, wrote and compiled, and returns its library.

    Raises:
        RbdgenError: the folder has no manifest, is not compiled, or was compiled for another machine or
            another Python; one line.
    """
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
    the symbols q1, v1, m1 and so on, and `.values` has the values of m1 and so on. `.text()`, `.latex()` and
    `.html()` return documents.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or the first argument of `load_robot`, such as a path.
        functions: some of "crba" (M), "coriolis" (C, from Christoffel symbols, so that dM/dt - 2 C is
            skew-symmetric without damping), "gravity" (g), "nle" (h = C v + g), "rnea" (tau),
            "kinetic_energy" (T) and "potential_energy" (U); None means M, C and g.
        symbols: the numbers that become symbols: "masses" (m1, kg), "lengths" (l1 to the next joint, lc1 to
            the centre of mass, m), "inertias" (I1 about the centre of mass, in the body's axes, kg m^2) and
            "gravity" (g, m/s^2); "all" or "none". A body includes the links that are fixed to it.
        budget_terms: the largest number of terms of all formulas together.

    Raises:
        RbdgenError: a name is unknown, or the robot is too large, has closed loops or Coulomb friction, or,
            for "coriolis", has a joint whose v is not dq/dt; one line.
    """
    from rbdgen.formulas.equations import equations_of  # noqa: PLC0415  (keeps `import rbdgen` quick)
    from rbdgen.pipeline.robot import robot_of  # noqa: PLC0415

    return equations_of(robot_of(robot), functions, symbols, budget_terms)


def trace(
    robot: Robot | str | Path,
    function: str | Own,
    engine: str = "casadi",
    variant: str | None = None,
    *,
    closed: bool = False,
) -> Any:
    """The expressions of a function, for your own use.

    Args:
        robot: from `load_robot` or `from_pinocchio`, or the first argument of `load_robot`, such as a path.
        function: the name of a function (`rbdgen list`), or a function of your own.
        engine: "casadi" returns a `casadi.Function` over SX, named ROBOT_FUNCTION, with the inputs and
            outputs of the function; elements that are always 0 are structural zeros. "sympy" returns the
            intermediate quantities as (symbol, expression) in order, and one matrix per output.
        variant: the name of a form of the function (`rbdgen list --forms`, the textbook's first), in the
            joints' own axes. None means the expressions that are emitted: those of the cheapest form, in the
            body axes that save the most operations, after all simplifications.
        closed: with "sympy", whether to return one matrix per output in closed, simplified expressions of q1,
            v1 and so on, for small robots and the functions of `equations`, which can also make masses
            symbols.

    Raises:
        RbdgenError: there is no such function, engine or form, or it does not fit the robot; one line.
    """
    from rbdgen.pipeline import calls  # noqa: PLC0415  (keeps `import rbdgen` quick)

    if closed:
        if engine != "sympy" or variant is not None:
            raise OptionError(
                "closed expressions come from SymPy and have no form; give engine='sympy' alone"
            )
        return list(equations(robot, [str(function)], "none").matrices.values())
    return calls.trace(robot, function, engine, variant)
