"""Algorithms in loops: what repeats for every column or body is written, and later compiled, once.

A loop is a straight line over scalars, run `count` times; accesses say where its arrays lie in the inputs,
outputs, scratch and tables of the whole form. Loops run in order, and so do the runs of a loop. A form in
loops is used twice: traced, its loops become those of a program; `LoopedForm.run` computes with any scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rbdgen.access import Access
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State

Arrays = Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True)
class FormLoop:
    """A loop of a form, before it is traced; traced, it is a `Loop` of a program.

    `trace` gets the function's own inputs that `inputs` names as the fields of a `State`, and the arrays of
    `reads` as `State.arrays`; it gives the arrays of `writes`. `zeros`: elements of an array that are known
    to be 0, run by run; where runs are not the lanes of a vector, nothing is computed with them. `alone`: as
    of a loop of a program.
    """

    name: str
    trace: Callable[[State], Arrays]
    writes: Mapping[str, Access]
    reads: Mapping[str, Access] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    count: int = 1
    zeros: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    alone: tuple[int, ...] = ()


@dataclass(frozen=True)
class LoopedForm:
    """A form as loops. `outputs`, `scratch`: arrays by name and size; `tables`: arrays of constants;
    `by_freedom`: as of a program."""

    loops: tuple[FormLoop, ...]
    outputs: Mapping[str, int]
    scratch: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    by_freedom: bool = False

    def run(self, x: State) -> list[list[Scalar]]:
        """The outputs for these inputs, on whatever scalars those are."""
        given = {**x.arrays, **self.tables}
        arrays = x.vectors | {name: list(values) for name, values in given.items()}
        arrays |= {name: [0] * size for name, size in {**self.scratch, **self.outputs}.items()}
        for loop in self.loops:
            for k in range(loop.count):
                taken = {
                    name: [arrays[access.array][address] for address in access.addresses(k)]
                    for name, access in loop.reads.items()
                }
                for name, values in loop.trace(x.of(loop.inputs, taken)).items():
                    access = loop.writes[name]
                    for address, value in zip(access.addresses(k), values, strict=True):
                        arrays[access.array][address] = value
        return [arrays[name] for name in self.outputs]
