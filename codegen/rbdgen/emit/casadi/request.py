"""The consequences of `--emit casadi` for the other options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rbdgen.emit.backends import asked_for
from rbdgen.emit.casadi.entries import Callee
from rbdgen.emit.casadi.subjects import jacobian_in, needed
from rbdgen.functions.function import Function
from rbdgen.functions.table import derivatives_of, is_differentiable
from rbdgen.model.model import Model
from rbdgen.options import Options
from rbdgen.wording import option


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude functions of CasADi, with advice; None if they do not."""
    if detail and not (detail.isdecimal() and detail.isascii() and int(detail) >= 1):
        return "give a positive number of states a call, such as casadi:32"
    if options.real != "double":
        return f"CasADi computes in double; leave {option('real', options.real)} out"
    if options.trig == "input":
        return f"its functions take q, not sines; leave {option('trig', 'input')} out"
    if small_machine:
        return f"CasADi runs on this machine; leave {option('target', options.target)} out"
    return None


def knots_of(emit: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers of states per call for which CasADi functions are printed; none if not asked for."""
    asked = [int(detail or 1) for name, detail in asked_for(emit) if name == "casadi"]
    return tuple(sorted({1, *asked})) if asked else ()


def extended(options: Options, rows: Mapping[str, Function], model: Model, parameters: int) -> Options:
    """The options with the functions that compute derivatives of all requested functions.

    The added products differentiate by the elements of q. None are added if the caller requests products that
    differentiate in the tangent space.
    """
    flat = model.manifold.flat
    by_elements = options.coordinates or flat or not any(row.differentiated for row in rows.values())
    more: list[str] = []
    products: set[str] = set()
    own = {name: row for name, row in rows.items() if row.composition is not None}

    def find(name: str) -> Callee | None:
        return Callee(rows[name].sized(model, parameters), batch=False) if name in rows else None

    for name, row in rows.items():
        made = row.differentiated or row.whole
        if row.derivative_of in rows or (made and made.of.name in rows):
            continue
        value = row.sized(model, parameters)
        asked = None if options.packed and not flat else jacobian_in(value, find, flat=flat)
        all_at_once = asked or derivatives_of(name, model.contact_sets)
        found = needed(value, all_at_once, hessian=False, parameters=parameters)
        more += [found.derivatives] if found.derivatives else []
        if (
            found.first
            and by_elements
            and not row.packed(options.packed)
            and is_differentiable(name, model, own=own)
        ):
            more.append(found.first)
            products.add(found.first)
    added = tuple(name for name in dict.fromkeys(more) if name not in (*rows, *options.functions))
    coordinates = options.coordinates or (not flat and not products.isdisjoint(added))
    return replace(options, functions=(*options.functions, *added), coordinates=coordinates)
