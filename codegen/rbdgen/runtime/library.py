"""The functions of one robot: a generated folder opened by its manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError, ArrayValueError, LoadError, either
from ..signature import UPDATE, SizedArgument, SizedSignature, numbers_of
from .anchors import anchor_of
from .arrays import Array, as_real, is_lazy, leading_axes
from .bodies import Bodies
from .compiled import Code
from .configuration import Manifold
from .documentation import call_signature, docstring
from .extension import open_calls, open_extension
from .function import Function
from .lazy import LazyCall, in_whole_states
from .manifest import MANIFEST, folder_of, manifest_of
from .memory import MEMORY
from .parameters import BaseParameters, Parameters, Update
from .pickled import Content, Revive
from .plausible import Plausible
from .rollout import Rollouts, Step

Frameworks = Callable[[str, "Library"], Any]
"""Makes the functions of a library those of a framework, which it names."""


class Library:
    """A robot's compiled functions, as attributes: `library.rnea(q, v, a)`.

    `nq`, `nv`, `nbodies`: lengths of q, of v, and how many bodies move; `manifest`: what was generated;
    `joint_names`, `idx_q`, `idx_v`: parallel, the moving joints in order without the base; `frames`: those of
    functions of frames, in order; `contacts`: those of functions of contacts, in the order of `active`;
    `functions`: by name; `manifold`: what the elements of q are; `parameters`: those that stayed inputs. Of
    these `library.update(p)` makes the table that every function takes as its last argument; where it is
    left out, they have their defaults. Attributes cannot be assigned.
    """

    def __init__(
        self, content: Content, manifest: Mapping[str, Any], code: Code, frameworks: Frameworks | None = None
    ) -> None:
        self._frameworks = frameworks
        self.folder = content.folder
        self.content = content
        content.library = self
        self._digest = code.digest
        self.manifest: Mapping[str, Any] = MappingProxyType(dict(manifest))
        self.name: str = manifest["name"]
        self.nq: int = manifest["nq"]
        self.nv: int = manifest["nv"]
        self.nbodies: int = manifest["nbodies"]
        self.joint_names: tuple[str, ...] = tuple(joint["name"] for joint in manifest["joints"])
        self.idx_q: tuple[int, ...] = tuple(joint["idx_q"] for joint in manifest["joints"])
        self.idx_v: tuple[int, ...] = tuple(joint["idx_v"] for joint in manifest["joints"])
        self.frames: tuple[str, ...] = tuple(frame["name"] for frame in manifest.get("frames", ()))
        self.contacts: tuple[str, ...] = tuple(contact["name"] for contact in manifest.get("contacts", ()))
        functions = {
            name: _function(signature_of(name, facts), facts, content, code, manifest["real"])
            for name, facts in manifest["functions"].items()
        }
        for name, function in functions.items():
            function.__signature__ = call_signature(function.signature)
            function.__doc__ = docstring(function.signature, manifest["functions"][name], manifest)
        self.functions: Mapping[str, Function] = MappingProxyType(functions)
        self._dtype = np.dtype(np.float32 if manifest["real"] == "float" else np.float64)
        self.manifold = Manifold.of(manifest["manifold"])
        self.parameters = Parameters.of(manifest)
        self.__dict__.update(functions)
        if self.parameters.names:
            bodies = Bodies(self.parameters.links, code.calls)
            self.__dict__[UPDATE] = Update(functions[UPDATE], self.parameters, bodies)
        self.rollout = Rollouts({name: f.rollout for name, f in functions.items() if isinstance(f, Step)})
        self._checked = False
        self._sealed = True

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(self.functions)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by content: see `pickled`."""
        return self.content.revive, (self.content.packed,)

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse_changes(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_changes(name)
        super().__delattr__(name)

    def _refuse_changes(self, name: str) -> None:
        """After construction: what is compiled would not follow."""
        if "_sealed" in self.__dict__:
            raise AttributeError(
                f"'{name}' of the library '{self.name}' cannot be changed: its code is compiled; "
                "build another library"
            )

    def __getattr__(self, name: str) -> Function:
        functions = ", ".join(self.__dict__.get("functions", {}))
        remedy = "build with params=[...], such as ['mass:*']; " if name == UPDATE else ""
        raise AttributeError(f"no function '{name}' was generated; {remedy}there are: {functions}")

    def normalize(self, q: npt.ArrayLike) -> Array:
        """A copy of q (..., nq) with the base's quaternion scaled to unit length; on a fixed base a copy.

        Raises:
            ArrayValueError: the shape is wrong, or a quaternion has length zero. So do those below.
            ArrayTypeError: something else than real numbers. So do those below.
        """
        return self._computed("normalize", self.manifold.nq, q=(q, self.manifold.nq))

    def integrate(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Where q (..., nq) comes to in one second at the velocity v (..., nv); pass v * dt for another time.

        A floating base moves along a screw: the exponential map of its pose. Leading axes broadcast. Where
        the function of this name was generated it stands in its place: C, without a check of quaternions.
        """
        given = {"q": (q, self.manifold.nq), "v": (v, self.manifold.nv)}
        return self._computed("integrate", self.manifold.nq, **given)

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The velocity (..., nv) that leads from q0 to q1 in one second: the inverse of `integrate`.

        Where the function of this name was generated, it stands in its place.
        """
        given = {"q0": (q0, self.manifold.nq), "q1": (q1, self.manifold.nq)}
        return self._computed("difference", self.manifold.nv, **given)

    def check_states(self) -> None:
        """From now on calls warn of configurations that look like a mistake: see `build(..., checks=True)`.

        Each kind of mistake is told once, by a `StateWarning`. Bound calls are checked where they are bound.
        Copies that pickle makes do not check.
        """
        if not self._checked:
            look = Plausible(self.manifold, self.manifest["joints"]).look
            for function in self.functions.values():
                function.looked_at_by(look)
            self.__dict__["_checked"] = True

    def anchor(self, q: npt.ArrayLike, contact_set: str | None = None) -> Array:
        """The `anchor` of functions of held contacts that pulls contacts to where they are at q (..., nq).

        For each contact its position and, of a frame, its rotation, row by row: the numbers of `contact_pose`
        in one row, (..., nanchor). `contact_set`: for functions of this set of contacts alone.

        Raises:
            ArrayTypeError: `contact_pose` was not generated.
            ArrayValueError: there is no such set, or a shape does not fit.
        """
        sets = self.manifest.get("contact_sets", {})
        if contact_set is not None and contact_set not in sets:
            known = ", ".join(sets) or "none"
            raise ArrayValueError(f"anchor: there is no set of contacts {contact_set!r}; there are: {known}")
        pose = self.functions.get("contact_pose")
        if pose is None:
            raise ArrayTypeError(
                "anchor: it is made by contact_pose, which was not generated; ask for it too"
            )
        chosen = self.contacts if contact_set is None else sets[contact_set]
        return anchor_of(pose(q), self.manifest["contacts"], chosen)

    def full_configuration(self, q: npt.ArrayLike) -> dict[str, Array]:
        """The positions of all joints by name, of those too that others move: for q (..., nq) arrays (...).

        A joint with several elements of q, such as a floating base, has them all: (..., its nq). The base is
        called `root_joint`, or `root_joint_` where a joint of the robot has that name.
        """
        convert = in_whole_states if is_lazy((q,)) else as_real
        argument = SizedArgument("q", (self.manifold.nq,), "", "")
        found = self.manifold.positions(convert("full_configuration", argument, q))
        for row in self.manifest.get("mimic", ()):
            found[row["joint"]] = row["multiplier"] * found[row["primary"]] + row["offset"]
        return {name: self._result(position) for name, position in found.items()}

    def neutral(self) -> Array:
        """The configuration (nq,) with all joints at zero and an unturned base."""
        return self._result(self.manifold.neutral())

    def random(
        self, generator: np.random.Generator | int | None = None, leading: Sequence[int] = ()
    ) -> Array:
        """Random configurations (*leading, nq); limits of joints do not count.

        Angles within a full turn, displacements within 1 m, every attitude as likely as another.
        `generator`: of NumPy's, or a seed, or None for other numbers every time.
        """
        try:
            return self._result(self.manifold.random(np.random.default_rng(generator), tuple(leading)))
        except (TypeError, ValueError) as error:
            raise ArrayTypeError(
                f"random: {error}; pass a numpy.random.Generator or a seed, then the leading axes: (1000,)"
            ) from error

    @property
    def inertial_parameters(self) -> Array:
        """pi (10 nbodies,), as regressors want it: m, m c, Ixx Ixy Iyy Ixz Iyz Izz of every body.

        About the origin of its joint, in the joint's axes, fixed links included; in kg, kg m, kg m^2.
        """
        seen = (body for body in self.manifest["bodies"] if not body.get("hidden"))
        return np.array([x for body in seen for x in _ten_parameters(body)])

    @property
    def base_parameters(self) -> BaseParameters | None:
        """Those of `regressor_base`, None where it was not generated."""
        found = self.manifest.get("base_parameters")
        if found is None:
            return None
        matrix = np.array(found["matrix"])
        return BaseParameters(tuple(found["names"]), matrix, matrix @ self.inertial_parameters)

    def release_memory(self) -> None:
        """Frees the memory that large results gave back, whichever function and library they came from."""
        MEMORY.release()

    def limit_memory(self, limit: int) -> None:
        """Keeps at most `limit` bytes of large results' memory for later ones; 0: every result is fresh.

        Counted are the latest results, those in use with those given back, of all libraries of this process
        that rbdgen opened; a generated package counts its own. At first it is an eighth of the machine's
        memory, 1 GiB at most.

        Raises:
            ArrayValueError: `limit` is no number, or below 0.
        """
        MEMORY.set_limit(limit)

    def casadi(self, function: str, knots: int = 1, *, hessian: bool = False) -> Any:
        """A function as a `casadi.Function` with sparse derivatives, compiled; kept in a cache.

        Args:
            function: its name, such as "aba".
            knots: so many states a call, in vectors: inputs and results are then those of all states, one
                beside the other, such as q (nq, knots).
            hessian: whether it has second derivatives too, for solvers that ask for an exact Hessian.

        Returns:
            The function, its inputs and outputs named as here. Jacobians are by the coordinates of q.

        Raises:
            LoadError: there is no such function, or derivative, it computes in float, or this is a package
                without rbdgen.
            ArrayValueError: `knots` is no number of states.
            BuildError: there is no compiler.
        """
        return self._of_framework("casadi")(function, knots, hessian)

    @cached_property
    def jax(self) -> Any:
        """The functions as those of JAX: `library.jax.rnea(q, v, a)` under jit, vmap, grad, jacfwd.

        Arrays are JAX's, of the library's dtype, on the CPU; leading axes are states, as in plain calls.

        Raises:
            BuildError: JAX is missing, or its headers, or a compiler of C++.
            LoadError: this is a package without rbdgen.
        """
        return self._of_framework("jax")

    @cached_property
    def torch(self) -> Any:
        """The functions as those of PyTorch: `library.torch.rnea(q, v, a)` with autograd, torch.func.

        Tensors are of the library's dtype, on the CPU; leading axes are states, as in plain calls. Raises as
        `jax` does.
        """
        return self._of_framework("torch")

    def _of_framework(self, name: str) -> Any:
        if self._frameworks is None:
            raise LoadError(
                f"lib.{name}: this package stands alone; pip install 'rbdgen[{name}]' and open its folder "
                f"with rbdgen.load({str(self.folder)!r})"
            )
        return self._frameworks(name, self)

    def _computed(self, method: str, size: int, **given: tuple[npt.ArrayLike, int]) -> Array:
        """What this method of the manifold gives, a vector of `size`, for vectors of the sizes given."""
        arguments = tuple(SizedArgument(name, (length,), "", "") for name, (_, length) in given.items())
        signature = SizedSignature(method, arguments, (SizedArgument(method, (size,), "", ""),))
        values = [value for value, _ in given.values()]
        if is_lazy(values):
            (later,) = LazyCall(self.content, self._digest, (method,), self._dtype)(signature, values)
            return cast("Array", later)
        arrays = [as_real(method, a, x) for a, x in zip(arguments, values, strict=True)]
        leading_axes(method, signature, arrays)
        return self._result(getattr(self.manifold, method)(*arrays))

    def _result(self, array: Array) -> Array:
        return array.astype(self._dtype, copy=False)


def open_library(
    folder: str | Path, revive: Revive | None = None, frameworks: Frameworks | None = None
) -> Library:
    """Open a generated folder that has been compiled.

    `revive`: makes the library again where it is unpickled; None for the package that this loader is part of.
    `frameworks`: makes `library.casadi`, `library.jax` and `library.torch`; None for that package too.

    Raises:
        LoadError: it has no manifest, is not compiled, was generated for a small machine, or was compiled for
            another machine or Python, or for instruction sets that this processor lacks.
    """
    folder = folder_of(folder)
    manifest = manifest_of(folder)
    built = manifest["build"]
    try:
        modules, digests = (built["module"], built["calls"]), built["sha256"]
        content = Content(
            folder, [name for name in manifest["files"] if name not in modules], revive or installed
        )
        module = open_extension(folder / built["module"], digests[built["module"]])
        _check_processor(folder, module)
        calls = open_calls(folder / built["calls"], digests[built["calls"]])
        code = Code(module.ffi, module.lib, calls, digests[built["module"]])
        return Library(content, manifest, code, frameworks)
    except (KeyError, TypeError, AttributeError) as error:
        raise LoadError(
            f"{folder / MANIFEST}: does not describe its functions ({error}); generate it again"
        ) from error


@cache
def installed(packed: bytes) -> Library:
    """The library of the generated package that this module is a part of.

    Raises:
        LoadError: what was pickled comes from another version of the package.
    """
    library = open_library(Path(__file__).parents[2])
    if library.content.packed != packed:
        raise LoadError(f"{library.folder}: is not the package that was pickled; install the same one")
    return library


def _check_processor(folder: Path, module: ModuleType) -> None:
    """Before any of the functions runs: what this processor lacks would end the process."""
    missing: list[str] = []
    while (feature := module.lib.rbdgen_missing(len(missing))) != module.ffi.NULL:
        missing.append(module.ffi.string(feature).decode())
    if missing:
        least = either('arch="x86-64-v2"', "--arch x86-64-v2")
        raise LoadError(
            f"{folder}: compiled for {', '.join(missing)}, which this processor lacks;"
            f" generate it on this machine, or where it was with {least}, which runs on both"
        )


def _ten_parameters(body: Mapping[str, Any]) -> list[float]:
    """Of a body of a manifest."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body["rotational_inertia"]
    return [body["mass"], *body["first_moment"], xx, xy, yy, xz, yz, zz]


def _function(signature: SizedSignature, *rest: Any) -> Function:
    return (Step if signature.rolls else Function)(signature, *rest)


def signature_of(name: str, facts: Mapping[str, Any]) -> SizedSignature:
    """The signature of a function that a manifest tells of."""
    return SizedSignature(name, _arguments(facts["inputs"]), _arguments(facts["outputs"]))


def _arguments(rows: list[dict[str, Any]]) -> tuple[SizedArgument, ...]:
    return tuple(map(_argument, rows))


def _argument(row: Mapping[str, Any]) -> SizedArgument:
    """What a folder written before arrays had patterns does not say is None."""
    symmetric, dense, nonzero = (row.get(name) for name in ("symmetric", "dense_shape", "nonzero"))
    return SizedArgument(
        row["name"],
        tuple(row["shape"]),
        row["unit"],
        row["meaning"],
        row["kind"],
        None if symmetric is None else (symmetric[0], symmetric[1]),
        None if nonzero is None else numbers_of(nonzero),
        None if dense is None else tuple(dense),
        tuple(row["default"]) if "default" in row else None,
    )
