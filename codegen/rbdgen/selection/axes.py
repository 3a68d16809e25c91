"""The search for body axes: the turns and slides of all bodies' axes with which a function costs least.

The search is a coordinate descent on the real operation count, from the leaves to the root. One search on
RNEA serves all functions within a few per cent; a second search on the function itself, from there, finds the
rest. A candidate is judged on the chain from the root to its body and on that body's children, because the
cost of the rest of the tree does not change. Candidates are the turns and slides that make a number exactly
zero: a component of a translation, an entry of the mass moments, or the offset to the common normal with a
neighbouring axis.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from math import atan2, hypot, inf, isfinite, pi
from typing import Final, NamedTuple

from rbdgen.errors import GraphError, ModelError
from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.functions.table import lookup
from rbdgen.graph.engine import GraphEngine
from rbdgen.model.angles import constant_angle, radians_of
from rbdgen.model.axes import AlignedBody, AlignedFrame
from rbdgen.model.model import WORLD, Body, Model
from rbdgen.model.moments import MassMoments
from rbdgen.model.reduce import Moved, ReducedModel, reduce
from rbdgen.model.regularity import typical_length
from rbdgen.selection.collection import collection_paused
from rbdgen.selection.trace import trace_on
from rbdgen.spatial.ops import Vector
from rbdgen.spatial.scalar import Scalar

RNEA: Final = lookup("rnea")
CLASSICAL: Final = RNEA.form("classical")

PASSES = 3
"""The greatest number of passes over all bodies; the second pass already finds little."""

SAME = 1e-9
"""Candidates that are closer than this, in rad or m, count as one."""

KEPT = 64
"""The number of searches whose results are kept."""

BUDGET = 300_000
"""The number of operations that a search may trace by default: some seconds. A humanoid takes 80 000."""

REACH = 2.0
"""A slide beyond this multiple of the distances to neighbouring joints is refused as ill-conditioned."""

FARTHEST_SLIDE = 1e3
"""The longest slide in radii of gyration; beyond it, the inertia would lose six digits beside m d^2."""


@dataclass(frozen=True)
class BodyAxes:
    """The turns (rad) and slides (m) of the axes of all bodies."""

    turns: tuple[float, ...]
    slides: tuple[float, ...]


def unmoved(model: Model) -> BodyAxes:
    """The model's own axes."""
    return BodyAxes((0.0,) * model.nbodies, (0.0,) * model.nbodies)


def search(
    model: Model,
    function: Function = RNEA,
    form: Form = CLASSICAL,
    start: BodyAxes | None = None,
    budget: float = BUDGET,
    parallel: Collection[int] = (),
) -> BodyAxes:
    """Turns and slides of all bodies of the model that make the form cheap. The result is deterministic, and
    is kept for functions that ask for the same search, such as all steps.

    `start` are the axes to begin with. `budget` is the number of operations to trace, after which the best
    axes so far are taken. `parallel` are bodies whose equations are counted in their parents' axes, as in
    `reduce`.
    """
    return _searched(model, function, form, start, budget, frozenset(parallel))


@lru_cache(maxsize=KEPT)
@collection_paused()
def _searched(
    model: Model,
    function: Function,
    form: Form,
    start: BodyAxes | None,
    budget: float,
    parallel: frozenset[int],
) -> BodyAxes:
    """The search itself."""
    descent = _Descent(model, function, form, start, budget, parallel)
    order = [i for i in reversed(range(model.nbodies)) if model.bodies[i].joint.type.one_axis]
    for _ in range(PASSES):
        improved = False
        for i in order:
            if descent.budget <= 0:
                break
            improved |= descent.improve(i)
        if not improved:
            break
    return BodyAxes(tuple(descent.turns), tuple(descent.slides))


class Count(NamedTuple):
    """Operations of a form."""

    least: int
    """The operations without negations."""
    total: float
    """All operations; infinite if `least` was too many already."""

    @property
    def most(self) -> float:
        """The largest number of operations, without negations, that a better count can have."""
        return min(self.least, self.total - 1)

    def says(self, most: float) -> bool:
        """Whether it is what `counted` would return for this `most`."""
        return self.total < inf or self.least > most


def operations(reduced: ReducedModel, function: Function = RNEA, form: Form = CLASSICAL) -> int:
    """The operations of a form on a reduced model; shared ones count once."""
    return int(counted(reduced, function, form).total)


def counted(reduced: ReducedModel, function: Function, form: Form, most: float = inf) -> Count:
    """The operations of a form on a reduced model.

    If there are more than `most`, negations are not counted, because that would double the time.
    """
    tracer = GraphEngine()
    outputs = trace_on(tracer, reduced, function, form, named=False)
    least = tracer.operations(outputs)
    return Count(least, inf if least > most else tracer.cost(outputs).total)


class _Descent:
    """The current choice of axes, which is improved body by body, and the counts that are known."""

    def __init__(
        self,
        model: Model,
        function: Function,
        form: Form,
        start: BodyAxes | None,
        budget: float,
        parallel: Collection[int],
    ) -> None:
        self.model = model
        self.function, self.form = function, form
        self.turns = list(start.turns) if start else [0.0] * model.nbodies
        self.slides = list(start.slides) if start else [0.0] * model.nbodies
        self.aligned = reduce(model)
        self.moved: Moved = {}
        self.budget = budget
        self.parallel = parallel
        self.known: dict[tuple[object, ...], Count] = {}  # by choices
        self.counted: dict[tuple[object, ...], Count] = {}  # by the numbers of alike chains
        self.refused: set[tuple[int, float, float]] = set()  # better for a chain, but not for the robot now
        self.whole = self.whole_cost()

    def reduced(self) -> ReducedModel:
        return self.aligned.with_axes(self.turns, self.slides, self.parallel, moved=self.moved)

    def improve(self, i: int) -> bool:
        """Take the cheapest candidate for body i. The result says whether it is better than the previous
        choice.
        """
        now = self.reduced()
        best = (self.cost(i), self.turns[i], self.slides[i])
        hung = [frame for frame in self.carried(now) if frame.parent == i]
        for turn, slide in candidates(now, i, self.turns[i], self.slides[i], hung):
            if self.budget <= 0:
                break
            cost = self.cost(i, turn, slide, best[0].most)
            if cost.total < best[0].total:
                best = (cost, turn, slide)
        before = (self.turns[i], self.slides[i])
        if best[1:] == before or (i, *best[1:]) in self.refused:
            return False
        _, self.turns[i], self.slides[i] = best
        whole = self.whole_cost(self.whole.most)
        if whole.total >= self.whole.total:
            self.turns[i], self.slides[i] = before
            self.refused.add((i, *best[1:]))
            return False
        self.whole = whole
        self.refused.clear()
        return True

    def carried(self, now: ReducedModel) -> list[AlignedFrame]:
        """The frames, or the ends of contacts, on which the function depends."""
        contacts = self.function.held_by(now).contacts if self.function.of_contacts else ()
        frames = now.frames if self.function.of_frames else ()
        return [*frames, *(end for _, *ends in contacts for end in ends)]

    def whole_cost(self, most: float = inf) -> Count:
        """The operations of the whole robot. Identical branches share some, which a single chain does not
        show.
        """
        return counted(self.reduced(), self.function, self.form, most)

    def cost(self, i: int, turn: float | None = None, slide: float | None = None, most: float = inf) -> Count:
        """The operations of the chain through body i, with another choice there; see `counted`."""
        turns, slides = list(self.turns), list(self.slides)
        if turn is not None and slide is not None:
            turns[i], slides[i] = turn, slide
        bodies = self.chain(i)
        key = (i, *((turns[k], slides[k]) for k in self.neighbourhood(i)))
        known = self.known.get(key)
        if known is None or not known.says(most):
            whole = self.aligned.with_axes(turns, slides, self.parallel, moved=self.moved)
            part = part_of(whole, bodies)
            # few chains have alike contacts or capsules, so negations are counted exactly there
            special = self.function.of_contacts or self.function.of_distances
            alike = key if special else _magnitudes(part)
            known = self.known[key] = self.count_of(part, alike, whole, most)
        return known

    def count_of(
        self, part: ReducedModel, alike: tuple[object, ...], whole: ReducedModel, most: float
    ) -> Count:
        """The operations of a chain. They are known if an alike chain was counted, such as that of another
        arm.
        """
        count = self.counted.get(alike)
        if count is None or not count.says(most):
            try:
                count = self.counted[alike] = counted(part, self.function, self.form, most)
            except (ZeroDivisionError, GraphError, ModelError):
                # massless bodies need mass and inertia from bodies beyond the chain, and a base needs
                # enough contacts
                count = counted(whole, self.function, self.form, most)
            self.budget -= count.least
        return count

    def chain(self, i: int) -> list[int]:
        """The bodies from the root to i, and the children of i.

        For functions of frames or contacts it includes all bodies up to those frames that i moves, or up to
        the first frame, because without any frame there is nothing to count.
        """

        def path(body: int) -> list[int]:
            return self.model.path(WORLD, body)[1]

        carriers = self.function.carriers(self.model)
        moved = [own for own in carriers if any(i in path(body) for body in own)]
        chosen = {*path(i), *self.model.children[i]}
        for own in moved or carriers[:1]:
            chosen.update(*map(path, own))
        return sorted(chosen)

    def neighbourhood(self, i: int) -> Iterable[int]:
        """The bodies whose frames affect the cost of the chain. They include all bodies below
        i, from which regrouped inertia comes.
        """
        return (*self.chain(i), *range(i, self.model.subtree_end[i]))


def part_of(reduced: ReducedModel, chosen: list[int]) -> ReducedModel:
    """The reduced model of some bodies only, with the moments they have in the whole robot.

    No joint of it follows another one, and no loop is closed.
    """
    number = {WORLD: WORLD} | {old: new for new, old in enumerate(chosen)}
    framed: list[AlignedBody] = []
    bodies: list[Body] = []
    nq = nv = 0
    for old in chosen:
        joint = replace(reduced.bodies[old].joint, idx_q=nq, idx_v=nv, follows=None)
        nq, nv = nq + joint.nq, nv + joint.nv
        parent = number[reduced.bodies[old].parent]
        framed.append(replace(reduced.bodies[old], joint=joint, parent=parent))
        bodies.append(replace(reduced.model.bodies[old], joint=joint, parent=parent))
    frames = tuple(replace(x, body=number[x.body]) for x in reduced.model.frames if x.body in number)
    kept = [all(end.parent in number for end in ends) for ends in reduced.contacts]
    return replace(
        reduced,
        model=replace(
            reduced.model,
            bodies=tuple(bodies),
            loops=(),
            frames=frames,
            contacts=tuple(x.renumbered(number) for x in compress(reduced.model.contacts, kept)),
            independent=tuple(range(nv)) if reduced.model.independent else (),
            distances=reduced.model.distances.renumbered(number),
        ),
        bodies=tuple(framed),
        moments=tuple(reduced.moments[old] for old in chosen),
        whole=tuple(reduced.whole[old] for old in chosen),
        frames=tuple(replace(x, parent=number[x.parent]) for x in reduced.frames if x.parent in number),
        contacts=tuple(
            tuple(replace(end, parent=number[end.parent]) for end in ends)
            for ends in compress(reduced.contacts, kept)
        ),
        parallel=frozenset(number[old] for old in reduced.parallel if old in number),
    )


def _magnitudes(reduced: ReducedModel) -> tuple[object, ...]:
    """All numbers on which a count depends, without signs, which affect only a few negations."""
    numbers: list[Scalar] = [*reduced.gravity]
    for body, own, whole in zip(reduced.bodies, reduced.moments, reduced.whole, strict=True):
        numbers += [*body.gamma, *body.alpha, *body.theta0, *body.translation]
        numbers += [*body.joint.axis, *body.turn, body.slide]
        for x in (own, whole):
            numbers += [x.mass, *x.first, *x.second[0], *x.second[1], *x.second[2]]
    for frame in reduced.frames:
        numbers += [*frame.gamma, *frame.alpha, *frame.theta0, *frame.translation]
    tree = ((body.parent, body.joint.type, body.joint.resistance) for body in reduced.bodies)
    return (
        *tree,
        *(frame.parent for frame in reduced.frames),
        reduced.parallel,
        *(round(abs(float(x)), 12) for x in numbers),
    )


def candidates(
    reduced: ReducedModel, i: int, turn: float, slide: float, frames: Sequence[AlignedFrame] = ()
) -> list[tuple[float, float]]:
    """Pairs of turn and slide that are worth counting at body i, whose current turn and slide are given.

    `frames` are those on the body, if the function depends on frames or contacts.
    """
    body = reduced.bodies[i]
    children = [*(reduced.bodies[k] for k in reduced.model.children[i]), *frames]
    own = reduced.moments[i]
    reach = min(
        REACH * max([_length(body.translation), *(_length(child.translation) for child in children)]),
        FARTHEST_SLIDE * typical_length(reduced.model),
    )
    changes = [0.0, *_slides(body, children, own)]
    slides = _distinct([slide + change for change in changes if isfinite(change) and abs(change) <= reach])
    turns = _distinct([turn + change for change in (0.0, *_turns(body, children, own))], period=2 * pi)
    return [(phi, d) for d in slides for phi in turns if (phi, d) != (turn, slide)]


def _slides(body: AlignedBody, children: Sequence[AlignedFrame], own: MassMoments) -> Iterable[float]:
    """Changes of the slide that make a number zero."""
    origin, axis = body.translation, body.axis
    yield from (-_ratio(origin[k], axis[k]) for k in range(3))
    yield -_ratio(origin.x * axis.x + origin.y * axis.y, axis.x**2 + axis.y**2)
    for child in children:
        p, u = child.translation, child.axis
        yield p.z
        yield p.z - u.z * _ratio(p.x * u.x + p.y * u.y, u.x**2 + u.y**2)
    sigma, h = own.second, own.first
    yield _ratio(sigma[0].z, h.x)
    yield _ratio(sigma[1].z, h.y)


def _turns(body: AlignedBody, children: Sequence[AlignedFrame], own: MassMoments) -> Iterable[float]:
    """Changes of the turn that make a number zero."""
    yield pi / 2
    yield -radians_of(body.theta0)
    for child in children:
        yield radians_of(child.gamma)
        if child.translation.x != 0 or child.translation.y != 0:
            yield atan2(child.translation.y, child.translation.x)
    sigma, h = own.second, own.first
    if h.x != 0 or h.y != 0:
        yield atan2(h.y, h.x)
    if sigma[0].y != 0:
        yield atan2(2 * sigma[0].y, sigma[0].x - sigma[1].y) / 2
    if sigma[0].z != 0 or sigma[1].z != 0:
        yield atan2(sigma[1].z, sigma[0].z)


def _ratio(a: float, b: float) -> float:
    return a / b if abs(b) > SAME else float("inf")


def _length(v: Vector) -> float:
    return hypot(*v)


def _distinct(values: Iterable[float], period: float = 0.0) -> list[float]:
    """The values without repetitions, in order. Angles that are multiples of a right angle become exact."""
    kept: list[float] = []
    for value in values:
        settled = radians_of(constant_angle(value)) if period else value
        if not any(_apart(settled, other, period) <= SAME for other in kept):
            kept.append(settled)
    return kept


def _apart(a: float, b: float, period: float) -> float:
    distance = abs(a - b)
    return min(distance, abs(period - distance)) if period else distance
