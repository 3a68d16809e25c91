"""Algorithms in loops: operations that repeat for every column or body are written, and later compiled, once.

A loop is a straight line over scalars that is run `count` times. Accesses say where its arrays lie in the
inputs, outputs, scratch arrays and tables of the whole form. Loops run in order, and so do the runs of a
loop.

A form in loops is used in two ways: its loops are traced to those of a program (`graph/programs`), and
`LoopedForm.run` computes with any scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rbdgen.access import Access
from rbdgen.spatial.scalar import Scalar
from rbdgen.sweeps.inputs import State

Arrays = Mapping[str, Sequence[Scalar]]


@dataclass(frozen=True)
class FormLoop:
    """A loop of a form, before it is traced to a `Loop` of a program."""

    name: str
    trace: Callable[[State], Arrays]
    """Computes one run: it takes a state and gives the arrays of `writes`. The state has the function's
    inputs that `inputs` names, and the arrays of `reads` in `State.arrays`.
    """
    writes: Mapping[str, Access]
    """The place to which each array that `trace` gives is written."""
    reads: Mapping[str, Access] = field(default_factory=dict)
    """The place from which each array that `trace` reads is read."""
    inputs: tuple[str, ...] = ()
    """The names of the function's inputs that `trace` reads directly."""
    count: int = 1
    zeros: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """The elements of each array read that are known to be 0 in each run.

    If runs are not lanes of a vector, no operation is spent on these elements.
    """
    distinct_runs: tuple[int, ...] = ()
    """The runs that are needed when runs come one by one, see `Loop` of `graph/programs/program.py`."""


def cleared(zeros: Access) -> FormLoop:
    """A loop that writes zeros, one in each run."""
    return FormLoop("clear", lambda _: {"zero": [0]}, {"zero": zeros}, count=len(zeros.offsets))


def copied(name: str, numbers: Access, places: Access) -> FormLoop:
    """A loop that copies the numbers of each run to other places."""
    return FormLoop(
        name,
        lambda x: {"copy": list(x.arrays["number"])},
        {"copy": places},
        {"number": numbers},
        count=len(numbers.offsets),
    )


@dataclass(frozen=True)
class LoopedForm:
    """A form as a sequence of loops."""

    loops: tuple[FormLoop, ...]
    outputs: Mapping[str, int]
    """The size of each output array."""
    scratch: Mapping[str, int] = field(default_factory=dict)
    """The size of each scratch array."""
    tables: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The arrays of constants."""
    lanes_of_one_state: bool = False
    """Whether the lanes are parts of one state, see `Program`."""
    axes: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
    """The axes of the arrays that a straight line with alike limbs as lanes writes, if they are not nv or
    nv x nv. An array of numbers of the whole robot has none.
    """

    def renamed(self, names: Mapping[str, str]) -> LoopedForm:
        """Replace arrays of the form by the ones that `names` gives."""

        def at(accesses: Mapping[str, Access]) -> dict[str, Access]:
            return {name: replace(x, array=names.get(x.array, x.array)) for name, x in accesses.items()}

        loops = (replace(loop, reads=at(loop.reads), writes=at(loop.writes)) for loop in self.loops)
        outputs = {names.get(name, name): size for name, size in self.outputs.items()}
        return replace(self, loops=tuple(loops), outputs=outputs)

    def run(self, x: State) -> list[list[Scalar]]:
        """The outputs for these inputs, computed with whatever scalars the inputs are."""
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


def joined(forms: Sequence[LoopedForm]) -> LoopedForm:
    """One form with the outputs of several. Loops of one name become one loop, so that it computes only once
    what they share; they have equal counts. Arrays of one name hold equal numbers.
    """
    loops: dict[str, list[FormLoop]] = {}
    for form in forms:
        for loop in form.loops:
            loops.setdefault(loop.name, []).append(loop)
    return LoopedForm(
        tuple(own[0] if len(own) == 1 else _one(own) for own in loops.values()),
        {name: size for form in forms for name, size in form.outputs.items()},
        {name: size for form in forms for name, size in form.scratch.items()},
        {name: table for form in forms for name, table in form.tables.items()},
        any(form.lanes_of_one_state for form in forms),
    )


def _one(loops: Sequence[FormLoop]) -> FormLoop:
    """The loop that does in each run what all of these do."""

    def trace(x: State) -> Arrays:
        found: dict[str, Sequence[Scalar]] = {}
        for loop in loops:
            found |= loop.trace(x.of(loop.inputs, {name: x.arrays[name] for name in loop.reads}))
        return found

    return replace(
        loops[0],
        trace=trace,
        writes={name: at for loop in loops for name, at in loop.writes.items()},
        reads={name: at for loop in loops for name, at in loop.reads.items()},
        inputs=tuple(dict.fromkeys(name for loop in loops for name in loop.inputs)),
    )
