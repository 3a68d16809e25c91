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
from typing import TYPE_CHECKING, Any, Literal, overload

from rbdgen.description.builder import RobotBuilder
from rbdgen.description.contacts import Contact, Frame, Loop, Point, Sole
from rbdgen.description.solids import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from rbdgen.errors import RbdgenError, RobotWarning, StateWarning
from rbdgen.inertia.inertia import Inertia
from rbdgen.symbolic import equations, trace
from rbdgen.version import __version__

if TYPE_CHECKING:
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
    from rbdgen.gpu.library import KernelLibrary
    from rbdgen.runtime import Library

# fmt: off
__all__ = [
    "Box", "Capsule", "Cylinder", "Ellipsoid", "Frame", "Inertia", "Loop", "Mesh", "Point", "Quantity",
    "RbdgenError", "RobotBuilder", "RobotWarning", "Sole", "Sphere", "StateWarning", "__version__", "array",
    "build", "cholesky", "congruence", "cross", "equations", "exp3", "from_casadi", "from_pinocchio",
    "from_sympy", "function", "generate", "generate_inertia", "inv", "load", "load_robot", "log3", "norm",
    "quaternion_inverse", "quaternion_product", "rotation", "skew", "solve", "trace", "zeros",
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
    contact_with: Sequence[str] = (),
    cover: Mapping[str, str] | None = None,
    capsules: str | Path | None = None,
    shapes: Literal["collision", "visual"] | None = None,
    pairs: str | Path | None = None,
    srdf: str | Path | None = None,
    obstacles: str | Mapping[str, int] | None = None,
    distance: Literal["plain", "exact"] | None = None,
    distance_floor: float = 0.0,
    softmin: float = 100.0,
    groups: str | Path | Mapping[str, Sequence[str]] | None = None,
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
            ["*_foot"]: spheres, ends of capsules, and corners of boxes ("left_foot:-z" for one side). With
            "sole:left_foot", the flat side of boxes and meshes that faces -z becomes a `Sole`.
        contact_sets: subsets of the contacts by name, such as {"trot": ["lf", "rh"]}. Every function of
            contacts also exists for each subset, such as `contact_aba_trot`, with fewer rows and operations.
        contact_solver: the iterations of `contact_step`: sweeps over the contacts, Newton steps, and sweeps
            between Newton steps. None means (3, 2, 0), and with soles (4, 2, 0).
        contact_with: what `contact_step` also has, some of "elastic" (springs and dampers at contacts),
            "anisotropic" (friction that depends on the direction), "limits" of joints, and dry "friction" of
            joints; see docs/friction.md.
        cover: the capsules of shapes for distances: {"mesh": "capsules:3"} for at most three around each
            mesh, {"cylinder": "capsule"} for one as long as the cylinder ("short", the default, ends
            inside), {"box": "capsules:2"} for two side by side; see docs/covers.md.
        capsules: a TOML file of capsules, which replace those of the links that it names.
        shapes: whether the shapes for "collision", the default, or the "visual" ones are covered.
        pairs: the pairs of capsules whose distances are wanted: "auto", the default unless `obstacles` alone
            are wanted; "all" on different bodies; "srdf" for those that the SRDF does not disable; or a file
            with two names of links or capsules on every line. "auto" leaves out neighbours, pairs that are
            always in contact, pairs that are proved never to meet, and those that an SRDF disables.
        srdf: an SRDF with <disable_collisions>.
        obstacles: the largest number of obstacles of each kind, for distances from them, such as
            "spheres=8,capsules=2,boxes=2,halfspaces=1", or a dict.
        distance: how the closest points of two capsules are computed: "plain", or "exact", which keeps more
            digits where axes are nearly parallel and cross. None means "exact" with `real="float"`, and
            "plain" with double; see docs/distances.md.
        distance_floor: a length f in m, with which the distance L of two axes becomes sqrt(L^2 + f^2). Second
            derivatives then stay below 1 / f.
        softmin: the sharpness of `distance_softmin` in 1/m: it is below the minimum of K distances by at most
            log(K) / softmin.
        groups: the groups of `distance_softmin`: a dict, or a TOML file with the same, from names to lists of
            patterns of names of pairs, such as {"arm": ["hand/*~*"]}. None means one group of all pairs.
        order: the order of the joints below each link, which are numbered depth first: "name" as Pinocchio
            reads a URDF, "file" as in the file. None means "file" for an MJCF or a Pinocchio model.
        bounds: a factor on the bounds of memory and work that keep reading a robot within 10 s and 1 GB, such
            as 20 MB for a file and 10 000 links; see docs/descriptions.md.

    Returns:
        The robot. `robot.warnings` lists the parts of the file that look wrong or have no effect, with file
        and line. If there are any, one `RobotWarning` tells the first.

    Raises:
        RbdgenError: one line that says where, what is wrong and what to do.
    """
    given = dict(locals())  # both functions have the same arguments
    from rbdgen.pipeline import robot  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return robot.warned(robot.load_robot(**given))


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
    contact_with: Sequence[str] = (),
    capsules: str | Path | None = None,
    pairs: str | Path | None = None,
    srdf: str | Path | None = None,
    obstacles: str | Mapping[str, int] | None = None,
    distance: Literal["plain", "exact"] | None = None,
    distance_floor: float = 0.0,
    softmin: float = 100.0,
    groups: str | Path | Mapping[str, Sequence[str]] | None = None,
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
        contact_with: as in `load_robot`.
        capsules: a TOML file of capsules on the model's links, see `load_robot`. A `pinocchio.Model` has no
            shapes.
        pairs, srdf, obstacles, distance, distance_floor, softmin, groups: as in `load_robot`.

    Returns:
        The robot, with the model's gravity. `robot.warnings` lists the parts of the model that have no
        effect. A further warning appears if the model does not number its joints depth first, as rbdgen does.

    Raises:
        RbdgenError: the model has an unsupported type of joint; the message, one line, names it.
    """
    from rbdgen.pipeline import robot  # noqa: PLC0415  (keeps `import rbdgen` quick)

    found = robot.from_pinocchio(
        model,
        snap,
        damping=damping,
        friction=friction,
        mimic=mimic,
        frames=frames,
        contacts=contacts,
        contact_sets=contact_sets,
        contact_solver=contact_solver,
        contact_with=contact_with,
        capsules=capsules,
        pairs=pairs,
        srdf=srdf,
        obstacles=obstacles,
        distance=distance,
        distance_floor=distance_floor,
        softmin=softmin,
        groups=groups,
    )
    return robot.warned(found)


@overload
def build(
    robot: Robot | str | Path, functions: Any = None, *, target: Literal["cuda"], **options: Any
) -> KernelLibrary: ...


@overload
def build(robot: Robot | str | Path, functions: Any = None, **options: Any) -> Library: ...


def build(
    robot: Robot | str | Path,
    functions: Sequence[str | Own] | None = None,
    *,
    checks: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> Library | KernelLibrary:
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
        together: functions that are called together, by the name of the function that calls them, such as
            {"terms": ["nle", "crba"]}. `lib.terms(q, v)` returns the results of both, and computes what they
            share once. Without `functions`, no others are built.
        name: the name of the library and the prefix in its C; by default the robot's name.
        arch: the oldest processor on which the code runs: "native" (the default), "x86-64-v2", "x86-64-v3",
            "x86-64-v4" or "aarch64". For "cuda" the GPUs, such as "sm_90,sm_120"; "native" is that of this
            machine for `build`, and "sm_90" for `generate` and where there is none.
        compiler: "gcc", "clang", or "auto": the one that is expected to compile a file to faster code. None
            (the default) takes the compiler that the environment variable CC names, or the first of cc, gcc
            and clang.
        contract: whether the compiler may fuse products and sums, which changes the last bits.
        trig: the source of sines and cosines: "builtin" (rbdgen's own, the default), "libm", or "input";
            with "input", functions take sines and cosines in place of angles.
        variants: forms to use, by function, such as {"rnea": "looped"} (`rbdgen list --forms`).
        savings: False for the textbook's forms in the joints' own axes.
        engine: the library that traces the algorithms: "casadi" (the default), "sympy" or "graph".
        budget: the largest number of operations of an unrolled function, by default 2 000 000.
        budget_flash: the flash, in bytes, that functions may take; forms become smaller until they fit.
        emit: ["casadi"] also writes functions for `casadi.external`; ["casadi:32"] adds functions that take
            32 states per call. ["javascript"] also writes the functions as an ES module in JavaScript, and
            ["rust"] a crate. ["bounds"] writes bounds of values and rounding errors to `NAME_bounds.h` and
            the manifest. `rbdgen ROBOT --help` lists all names.
        ranges: for bounds, the ranges of inputs, of their elements and of parameters, as `lib.rnea.bounds`
            takes them, such as {"a": (-20, 20), "q[3]": (0, 1)}; others are the limits of joints.
        tighten: for bounds, the number of parts into which these ranges are cut at most, by default 0.
        target: "host" (the default), "portable", or "cuda" for GPUs. `generate` also has "wasm32", for web
            pages, and small machines, for which `ram` bounds the stack and the arguments of functions, in
            bytes.

    Returns:
        The library. `lib.rnea(q, v, a)` takes and returns NumPy arrays with shapes (..., nq) and (..., nv).
        That for "cuda" takes and returns arrays in the memory of a GPU, see docs/cuda.md.

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
            have; for "wasm32" the module; for "cuda" the kernels; for a small machine, to measure flash and
            stack.
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


def load(folder: str | Path) -> Library | KernelLibrary:
    """Opens a folder that `generate`, or `rbdgen ROBOT.urdf`, wrote and compiled, and returns its library.

    The functions of a folder for "cuda" run on a GPU, and take and return arrays there.

    Raises:
        RbdgenError: the folder has no manifest, is not compiled, or was compiled for another machine or
            another Python; one line.
    """
    from rbdgen.pipeline import calls  # noqa: PLC0415  (keeps `import rbdgen` quick)

    return calls.load(folder)
