"""The derivatives of a Jacobian of one number, from NAME_hessian."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from rbdgen.emit.casadi.entries import Call, Result, Subject
from rbdgen.emit.casadi.matrices import Matrix, jacobian_of
from rbdgen.emit.casadi.rooms import Rooms
from rbdgen.emit.casadi.subjects import seconds


def derivatives_of_rows(
    rooms: Rooms, subject: Subject, matrices: Mapping[str, Matrix], call: Call
) -> Iterator[Result]:
    """The derivatives of every dy/dx by every input z and, as CasADi asks for them, by the result y.

    Args:
        rooms: the tables of the file.
        subject: the function.
        matrices: the inputs and the result as CasADi stores them.
        call: the call of NAME_hessian.
    """
    (y,) = subject.value.signature.outputs
    arrays = {array.name: array for array in call.arrays}
    blocks = _blocks(subject, matrices)
    for x, z in product(subject.value.signature.inputs, (*subject.value.signature.inputs, y)):
        name = f"jac_jac_{y.name}_{x.name}_{'out_' if z is y else ''}{z.name}"
        nothing = Matrix(matrices[x.name].size, matrices[z.name].size, ())
        block, array = blocks.get((x.name, z.name), (nothing, ""))
        sparsity = rooms.sparsities.number(block.of_rows(rooms.knots))
        held = len(block.entries)
        if not held:
            yield Result(name, sparsity, 0)
            continue
        places = rooms.places.number(block.places)
        yield Result(name, sparsity, held, arrays[array], arrays[array].size, places)


def _blocks(subject: Subject, matrices: Mapping[str, Matrix]) -> dict[tuple[str, str], tuple[Matrix, str]]:
    """The second derivatives by every two inputs for one state, each with the output that holds them."""
    found = {}
    for (x, z), derivative in seconds(subject).items():
        block = jacobian_of(derivative, matrices[x], matrices[z])
        found[z, x] = block.transposed(), derivative.name
        found[x, z] = block, derivative.name
    return found
