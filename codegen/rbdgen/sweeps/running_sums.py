"""Sums along the tree of bodies: computed from numbers, and as loops with a run for each sum."""

from __future__ import annotations

from collections.abc import Sequence

from rbdgen.access import Access, element
from rbdgen.spatial.scalar import Scalar, add, is_zero
from rbdgen.sweeps.freedoms import FreedomLanes
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import Arrays, FormLoop
from rbdgen.sweeps.numbers import Home


def outward_sums(
    terms: Sequence[Scalar], parents: Sequence[int], root: Scalar
) -> tuple[list[Scalar], list[Scalar]]:
    """The sums over each body and its ancestors, which start with `root`; and those at its parent."""
    sums: list[Scalar] = []
    above: list[Scalar] = []
    for term, parent in zip(terms, parents, strict=True):
        above.append(root if parent < 0 else sums[parent])
        sums.append(add(above[-1], term))
    return sums, above


def inward_sums(terms: Sequence[Scalar], parents: Sequence[int]) -> tuple[list[Scalar], Scalar]:
    """The sums over each subtree, and that over all bodies."""
    sums, total = list(terms), 0
    for k, parent in reversed(list(enumerate(parents))):
        if parent < 0:
            total = add(total, sums[k])
        else:
            sums[parent] = add(sums[parent], sums[k])
    return sums, total


def outward_loop(
    lanes: FreedomLanes, own: Access, roots: Sequence[Scalar] | Sequence[Home], above: Access | None
) -> FormLoop:
    """The loop that replaces terms by their sums from the root to the leaves.

    Run k sums the terms that `own` reads, beginning with `roots[k]`. The sums at parents are written to
    `above` if it is given.
    """
    reads, start = {"own": own}, roots[0]
    known = not isinstance(start, Home) and len(set(roots)) == 1
    if isinstance(start, Home):
        reads["root"] = element(start.array, (root.row for root in roots if isinstance(root, Home)))
    elif not known:
        reads["root"] = element(lanes.new_table("root", roots), range(len(roots)))
    changed = [k for k, parent in enumerate(lanes.parents) if parent >= 0 or not (known and is_zero(start))]
    sums = Access(own.array, tuple(own.elements[k] for k in changed), own.offsets)
    writes = {**({"sum": sums} if changed else {}), **({"above": above} if above else {})}
    runs = len(roots) if writes and lanes.count else 0

    def trace(x: State) -> Arrays:
        found, before = outward_sums(x.arrays["own"], lanes.parents, start if known else x.arrays["root"][0])
        made = {"sum": [found[k] for k in changed], "above": before}
        return {name: made[name] for name in writes}

    return FormLoop("outward", trace, writes, reads, count=runs)


def inward_loop(lanes: FreedomLanes, own: Access, total: Access | None) -> FormLoop:
    """The loop that replaces terms by their sums from the leaves to the root.

    Run k sums the terms that `own` reads. The sums over all bodies are written to `total` if it is given.
    """
    inner = sorted({parent for parent in lanes.parents if parent >= 0})
    sums = Access(own.array, tuple(own.elements[k] for k in inner), own.offsets)
    writes = {**({"sum": sums} if inner else {}), **({"total": total} if total else {})}

    def trace(x: State) -> Arrays:
        found, over_all = inward_sums(x.arrays.get("own", ()), lanes.parents)
        made = {"sum": [found[k] for k in inner], "total": [over_all]}
        return {name: made[name] for name in writes}

    reads = {"own": own} if lanes.count else {}
    return FormLoop("inward", trace, writes, reads, count=len(own.offsets) if writes else 0)
