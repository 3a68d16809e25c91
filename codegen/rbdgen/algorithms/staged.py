"""Algorithms in stages: what repeats for every column or body is written, and later compiled, once.

A stage is a straight line over scalars, run `count` times; places say where its arrays lie in the inputs,
outputs, rooms and tables of the whole. Stages run in order, and so do the runs of a stage. Traced stage by
stage they become the loops of a program; run one after the other on any scalars they are an algorithm like
every other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rbdgen.algorithms.state import State
from rbdgen.places import Place
from rbdgen.spatial.scalar import Scalar

Arrays = Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True)
class Stage:
    """A straight line.

    `trace` gets the function's own inputs that `inputs` names as the fields of a `State`, and the arrays that
    `reads` places as `State.arrays`; it gives the arrays that `writes` places. `zeros`: elements of an array
    that are known to be 0, run by run; where runs are not the lanes of a vector, they are not computed with.
    """

    name: str
    trace: Callable[[State], Arrays]
    writes: Mapping[str, Place]
    reads: Mapping[str, Place] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    count: int = 1
    zeros: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Staged:
    """All stages. `outputs`, and `rooms`, arrays between stages: name and size; `tables`: constants."""

    stages: tuple[Stage, ...]
    outputs: Mapping[str, int]
    rooms: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def run(self, x: State) -> list[list[Scalar]]:
        """The outputs for these inputs, on whatever scalars those are."""
        arrays = x.vectors | {name: list(values) for name, values in self.tables.items()}
        arrays |= {name: [0] * size for name, size in {**self.rooms, **self.outputs}.items()}
        for stage in self.stages:
            for k in range(stage.count):
                taken = {
                    name: [arrays[place.array][address] for address in place.addresses(k)]
                    for name, place in stage.reads.items()
                }
                for name, values in stage.trace(x.of(stage.inputs, taken)).items():
                    place = stage.writes[name]
                    for address, value in zip(place.addresses(k), values, strict=True):
                        arrays[place.array][address] = value
        return [arrays[name] for name in self.outputs]
