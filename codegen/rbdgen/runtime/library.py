"""The library of one robot: opens a generated folder by its manifest, and holds its functions."""

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
from .described import Described
from .documentation import call_signature, docstring, table
from .extension import open_calls, open_extension
from .function import Function
from .lazy import LazyCall, in_whole_states
from .manifest import MANIFEST, folder_of, manifest_of
from .memory import MEMORY
from .parameters import BaseParameters, Update
from .pickled import Content, Revive
from .plausible import Plausible
from .rollout import Rollouts, Step

Frameworks = Callable[[str, "Library"], Any]
"""Makes the functions of a library for the framework with the given name: "casadi", "jax" or "torch"."""


class Library(Described):
    """A robot's compiled functions, as attributes: `library.rnea(q, v, a)`. Attributes cannot be assigned.

    If parameters stayed inputs, `library.update(p)` computes a table from their values, which other functions
    take as their last argument. Without it, parameters have their defaults.

    It has the attributes of `Described`, and these:

    Attributes:
        functions: the functions by name.
    """

    def __init__(
        self, content: Content, manifest: Mapping[str, Any], code: Code, frameworks: Frameworks | None = None
    ) -> None:
        self._frameworks = content.frameworks = frameworks
        self.folder = content.folder
        self.content = content
        content.library = self
        self._digest = code.digest
        super().__init__(manifest)
        functions = {
            name: _function(signature_of(name, facts), facts, content, code, manifest["real"])
            for name, facts in manifest["functions"].items()
        }
        for name, function in functions.items():
            function.__signature__ = call_signature(function.signature)
            function.__doc__ = docstring(function.signature, manifest["functions"][name], manifest)
        self.functions: Mapping[str, Function] = MappingProxyType(functions)
        self._dtype = np.dtype(np.float32 if manifest["real"] == "float" else np.float64)
        self.plausible = Plausible(self.manifold, manifest["joints"])
        self.__dict__.update(functions)
        if self.parameters.names:
            bodies = Bodies(self.parameters.links, code.calls)
            self.__dict__[UPDATE] = Update(functions[UPDATE], self.parameters, bodies)
        self.rollout = Rollouts({name: f.rollout for name, f in functions.items() if isinstance(f, Step)})
        self._checked = False
        self._sealed = True

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(self.functions)}>"

    def _repr_html_(self) -> str:
        """The functions with their shapes, units and costs, as notebooks show them."""
        return table((f.signature, f.cost["total"]) for f in self.functions.values())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the sources of the library, see `pickled`."""
        return self.content.revive, (self.content.packed,)

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse_changes(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_changes(name)
        super().__delattr__(name)

    def _refuse_changes(self, name: str) -> None:
        """Raises AttributeError after construction, because a change would not affect the compiled code."""
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
        """A copy of q (..., nq) with every quaternion scaled to unit length.

        Raises:
            ArrayValueError: the shape is wrong, or a quaternion has length zero. So do the methods below.
            ArrayTypeError: q is not an array of real numbers. So do the methods below.
        """
        return self._computed("normalize", self.manifold.nq, q=(q, self.manifold.nq))

    def integrate(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """The configuration (..., nq) after one second at constant velocity v (..., nv), from q (..., nq).

        Pass v * dt for a time step dt. A floating base moves along a screw, by the exponential map of its
        pose. Leading axes broadcast. If the function `integrate` was generated, it replaces this method; it
        runs in C and does not check quaternions.
        """
        space = self.manifold
        return self._computed("integrate", space.nq, q=(q, space.nq), v=(v, space.nv))

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The velocity (..., nv) that leads from q0 to q1 in one second: the inverse of `integrate`.

        If the function `difference` was generated, it replaces this method.
        """
        space = self.manifold
        return self._computed("difference", space.nv, q0=(q0, space.nq), q1=(q1, space.nq))

    def check_states(self) -> None:
        """Makes later calls warn of configurations that look like a mistake: see `build(..., checks=True)`.

        Each kind of mistake gives one `StateWarning`. The arrays of bound calls are checked by `bind` only.
        Pickled copies do not check.
        """
        if not self._checked:
            for function in self.functions.values():
                function.looked_at_by(self.plausible.look)
            self.__dict__["_checked"] = True

    def anchor(self, q: npt.ArrayLike, contact_set: str | None = None) -> Array:
        """The `anchor` argument with which functions pull contacts to their poses at q (..., nq).

        It has the shape (..., nanchor). It has the position of each contact and, for a contact that keeps a
        frame, its rotation matrix row by row, as in `contact_pose`. With `contact_set`, it is for the
        functions of that set of contacts.

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
        """The positions of all joints by name, including those that follow other joints.

        For q (..., nq) they are arrays (...), or (..., n) for a joint with n > 1 elements of q. A floating
        base is called `root_joint`, or `root_joint_` if a joint of the robot has that name.
        """
        convert = in_whole_states if is_lazy((q,)) else as_real
        argument = SizedArgument("q", (self.manifold.nq,), "", "")
        found = self.manifold.positions(convert("full_configuration", argument, q))
        for row in self.manifest.get("mimic", ()):
            found[row["joint"]] = row["multiplier"] * found[row["primary"]] + row["offset"]
        return {name: self._result(position) for name, position in found.items()}

    def neutral(self) -> Array:
        """The configuration (nq,) with all joints at zero, and a floating base at the world frame."""
        return self._result(self.manifold.neutral())

    def random(
        self, generator: np.random.Generator | int | None = None, leading: Sequence[int] = ()
    ) -> Array:
        """Random configurations (*leading, nq): angles within pi, displacements within 1 m, any attitude.

        Joint limits are ignored. `generator` is a generator of NumPy, or a seed, or None for different
        numbers in every call; `leading` has the leading axes.
        """
        try:
            return self._result(self.manifold.random(np.random.default_rng(generator), tuple(leading)))
        except (TypeError, ValueError) as error:
            raise ArrayTypeError(
                f"random: {error}; pass a numpy.random.Generator or a seed, then the leading axes: (1000,)"
            ) from error

    @property
    def inertial_parameters(self) -> Array:
        """The inertial parameters pi (10 nbodies,) of all bodies: m, m c, Ixx Ixy Iyy Ixz Iyz Izz.

        They are about the origin of the body's joint, in its axes, and include fixed links; kg, kg m, kg m^2.
        """
        seen = (body for body in self.manifest["bodies"] if not body.get("hidden"))
        return np.array([x for body in seen for x in _ten_parameters(body)])

    @property
    def base_parameters(self) -> BaseParameters | None:
        """The base parameters of `regressor_base`; None if that function was not generated."""
        found = self.manifest.get("base_parameters")
        if found is None:
            return None
        matrix = np.array(found["matrix"])
        return BaseParameters(tuple(found["names"]), matrix, matrix @ self.inertial_parameters)

    def release_memory(self) -> None:
        """Frees the memory of large results that are no longer in use, of all functions and libraries."""
        MEMORY.release()

    def limit_memory(self, limit: int) -> None:
        """Limits the memory of large results that is kept for later results to `limit` bytes; 0 keeps none.

        The limit applies to all libraries of this process that rbdgen opened; a generated package has its
        own. By default it is an eighth of the machine's memory, but at most 1 GiB.

        Raises:
            ArrayValueError: `limit` is no number, or below 0.
        """
        MEMORY.set_limit(limit)

    def casadi(self, function: str, knots: int = 1, *, hessian: bool = False) -> Any:
        """A function as a compiled `casadi.Function` with sparse derivatives; compiled code is cached.

        Args:
            function: its name, such as "aba".
            knots: the number of states per call; inputs and results then have one column per state.
            hessian: whether it has second derivatives too, for solvers that use an exact Hessian.

        Returns:
            The function, with the names of its inputs and outputs. Jacobians are with respect to the
            elements of q. Calls with numbers warn of configurations that look like a mistake, see
            `check_states`.

        Raises:
            LoadError: there is no such function or derivative, it computes in float, or this is a package
                without rbdgen.
            ArrayValueError: `knots` is not a positive integer.
            BuildError: there is no compiler.
        """
        return self._of_framework("casadi")(function, knots, hessian)

    @cached_property
    def jax(self) -> Any:
        """The functions for JAX: `library.jax.rnea(q, v, a)` under jit, vmap, grad, jacfwd.

        Arrays have the library's dtype and are on the CPU. Leading axes are states, as in plain calls.

        Raises:
            BuildError: JAX, its headers or a C++ compiler are missing.
            LoadError: this is a package without rbdgen.
        """
        return self._of_framework("jax")

    @cached_property
    def torch(self) -> Any:
        """The functions for PyTorch: `library.torch.rnea(q, v, a)` with autograd and torch.func.

        Tensors have the library's dtype and are on the CPU. Leading axes are states, as in plain calls.

        Raises:
            BuildError: PyTorch, its headers or a C++ compiler are missing.
            LoadError: this is a package without rbdgen.
        """
        return self._of_framework("torch")

    def show(self, q: npt.ArrayLike | None = None, **options: Any) -> Any:
        """The page of the robot at the configuration q, (nq,), as `Robot.show` makes it: a notebook displays
        it, `.save(PATH)` writes it, and `.open()` opens it in the browser.

        Raises:
            LoadError: the library comes from a folder, which has no description of the robot.
            OptionError: q is no configuration, or an option is unknown.
        """
        return self._of_framework("show")(q, **options)

    def _of_framework(self, name: str) -> Any:
        if self._frameworks is None:
            raise LoadError(
                f"lib.{name}: this package stands alone; pip install 'rbdgen[{name}]' and open its folder "
                f"with rbdgen.load({str(self.folder)!r})"
            )
        return self._frameworks(name, self)

    def _computed(self, method: str, size: int, **given: tuple[npt.ArrayLike, int]) -> Array:
        """The result of a method of the manifold, a vector of `size`, for vectors of the given sizes."""
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
    """Opens a generated folder that has been compiled.

    `revive` makes the library again when it is unpickled, and `frameworks` makes `library.casadi`,
    `library.jax` and `library.torch`. Both are None for the generated package that contains this module.

    Raises:
        LoadError: the folder has no manifest, is not compiled, was generated as C alone, or was compiled for
            another machine, another Python, or instruction sets that this processor lacks.
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
    """The library of the generated package that contains this module.

    Raises:
        LoadError: another version of the package was pickled.
    """
    library = open_library(Path(__file__).parents[2])
    if library.content.packed != packed:
        raise LoadError(f"{library.folder}: is not the package that was pickled; install the same one")
    return library


def _check_processor(folder: Path, module: ModuleType) -> None:
    """Raises LoadError if the processor lacks an instruction set of the module, whose instructions would end
    the process."""
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
    """The ten inertial parameters of a body of a manifest."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body["rotational_inertia"]
    return [body["mass"], *body["first_moment"], xx, xy, yy, xz, yz, zz]


def _function(signature: SizedSignature, *rest: Any) -> Function:
    return (Step if signature.rolling else Function)(signature, *rest)


def signature_of(name: str, facts: Mapping[str, Any]) -> SizedSignature:
    """The signature of a function, from its entry in a manifest."""
    return SizedSignature(name, _arguments(facts["inputs"]), _arguments(facts["outputs"]))


def _arguments(rows: list[dict[str, Any]]) -> tuple[SizedArgument, ...]:
    return tuple(map(_argument, rows))


def _argument(row: Mapping[str, Any]) -> SizedArgument:
    """The argument that a row of a manifest describes; fields that older folders lack are None."""
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
        (row["range"][0], row["range"][1]) if "range" in row else None,
    )
