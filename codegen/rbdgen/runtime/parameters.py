"""Parameters that stayed inputs, the call that computes a table from them, and base parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import ArrayTypeError
from ..signature import UPDATE
from .arrays import Array, as_real, is_lazy
from .bodies import Bodies
from .function import Function
from .log_cholesky import LOG_CHOLESKY, UNITS, linear_of, log_cholesky_of


@dataclass(frozen=True)
class Parameters:
    """The parameters of a library that stayed inputs, in the order of p."""

    names: tuple[str, ...]
    defaults: Array  # (np,)
    units: tuple[str, ...]
    links: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    """The rows of the manifest for links with inertial parameters: the ten values of each link, and for each
    value its index in p, or None if it is no input."""
    log_cholesky: tuple[int, ...] = field(default=(), repr=False)
    """The indices in p at which the ten log-Cholesky parameters of a link begin."""

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Parameters:
        """The parameters that a manifest lists, which may be none."""
        rows = manifest.get("parameters", ())
        names, units = ([row[key] for row in rows] for key in ("name", "unit"))
        defaults = np.array([row["default"] for row in rows], float)
        logarithms = tuple(manifest.get("log_cholesky", ()))
        for first in logarithms:
            ten = slice(first, first + 10)
            link = names[first].partition(":")[2].removesuffix(".m")
            names[ten] = [f"logchol:{link}.{name}" for name in LOG_CHOLESKY]
            units[ten] = UNITS
            defaults[ten] = log_cholesky_of(defaults[ten].tolist(), math.sqrt, math.log)
        return cls(tuple(names), defaults, tuple(units), manifest.get("parameter_links", ()), logarithms)

    def vector(self, given: Mapping[str, npt.ArrayLike]) -> Array:
        """The vector p (..., np) with the given values by name, and defaults for all others.

        Raises:
            ArrayTypeError: there is no parameter of that name.
        """
        values = {name: np.asarray(value) for name, value in given.items()}
        self.check_names(values)
        leading = np.broadcast_shapes(*(value.shape for value in values.values()))
        p = np.array(np.broadcast_to(self.defaults, (*leading, len(self.names))))
        for name, value in values.items():
            p[..., self.names.index(name)] = value
        return p

    def check_names(self, given: Iterable[str]) -> None:
        """Raises ArrayTypeError if a parameter does not exist."""
        for name in given:
            if name not in self.names:
                raise ArrayTypeError(f"update: there is no parameter {name!r}; {self._advice(name)}")

    def _advice(self, name: str) -> str:
        """What to do in place of giving a parameter that does not exist."""
        for group in (name, name.rpartition(".")[0]):
            parts = ", ".join(known for known in self.names if group and known.rpartition(".")[0] == group)
            if parts and group == name:
                return f"give its components by name: {parts}"
            if parts and not group.startswith(("ten:", "logchol:")):  # which have all of their components
                return f"of {group!r} there is {parts}; build with params=['{group}.*'] for all components"
        near = get_close_matches(name, self.names, n=1) or self.names[:1]
        return f"did you mean {near[0]!r}?"

    def linear(self, p: npt.ArrayLike) -> Array:
        """p (..., np) as C reads it, with the ten linear parameters of a link, those of `ten:LINK`, in place
        of its log-Cholesky parameters `logchol:LINK`."""
        given = np.asarray(p)
        if not self.log_cholesky:
            return given
        columns = np.array(np.moveaxis(given, -1, 0), float)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for ten in self.tens():
                columns[ten] = linear_of(list(columns[ten]), np.exp)
        return np.ascontiguousarray(np.moveaxis(columns, 0, -1))

    def tens(self) -> Iterator[slice]:
        """The indices in p of the ten log-Cholesky parameters of each link."""
        return (slice(first, first + 10) for first in self.log_cholesky)

    def unphysical(self, p: npt.ArrayLike) -> dict[str, float]:
        """The links whose inertia is not physical, by name, with the largest deviation over all rows of
        p (..., np).

        The deviation is in kg m^2 if the largest principal moment of inertia about the centre of mass exceeds
        the sum of the two others, and in kg if the mass is negative.
        """
        return Bodies(self.links).unphysical(self.linear(p))


@dataclass(frozen=True)
class Update:
    """Computes the table of parameters, `table = update(p)`, which all other functions take as last argument.

    Call it after every change of p. The argument is p (..., np), or a dict of values by name, with defaults
    for all others; without an argument all parameters have their defaults. For log-Cholesky parameters in p,
    C receives the ten linear ones. A warning names links whose inertia is not physical; the results still
    satisfy the equations of motion with this inertia. Blocks of Dask arrays are checked when they are
    computed.
    """

    function: Function
    parameters: Parameters
    bodies: Bodies

    def __call__(self, p: npt.ArrayLike | Mapping[str, npt.ArrayLike] | None = None, **options: Any) -> Any:
        if p is None:
            p = self.parameters.defaults
        elif isinstance(p, Mapping):
            if is_lazy(p.values()):
                raise ArrayTypeError(
                    "update: a value is a Dask array; pass all parameters as one, p (..., np)"
                )
            p = self.parameters.vector(p)
        elif is_lazy((p,)):
            return self.function(p, **options)  # Dask calls this method again with each block
        if self.parameters.log_cholesky:
            p = self.parameters.linear(as_real(UPDATE, self.function.signature.inputs[0], p))
        table = self.function(p, **options)
        for link, distance in self.bodies.unphysical(p).items():
            warnings.warn(
                f"update: no body has the inertia of link '{link}': it is off by {distance:.3g} kg m^2, or "
                "kg if the mass is not above 0; check mass and inertia",
                stacklevel=2,
            )
        return table

    def __repr__(self) -> str:
        return repr(self.function)


class BaseParameters(NamedTuple):
    """The parameters of `regressor_base`, for which tau = Yb values.

    It prints as a table of names and values.
    """

    names: tuple[str, ...]  # of the inertial parameters whose columns Yb has, such as "Ixx:forearm"
    matrix: Array  # R, (nbase, 10 nbodies)
    values: Array  # R pi, (nbase,): each is the named parameter plus multiples of others

    def __repr__(self) -> str:
        if not self.names:
            return "<no base parameters>"
        rows = [(name, f"{value:.6g}", self.unit(name)) for name, value in zip(self[0], self[2], strict=True)]
        wide, right = (max(len(row[k]) for row in rows) for k in (0, 1))
        lines = [f"{name:{wide}}  {value:>{right}} {unit}" for name, value, unit in rows]
        return "\n".join([f"<{len(rows)} base parameters>", *lines])

    @staticmethod
    def unit(name: str) -> str:
        """The unit of the parameter of this name."""
        return {"m:": "kg", "mx": "kg m", "my": "kg m", "mz": "kg m"}.get(name[:2], "kg m^2")
