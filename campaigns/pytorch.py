"""Functions for PyTorch on random robots: values of batches, values under vmap, and gradients.

The robots are those of the campaign `forms`; some of their functions are built and called as `lib.torch.NAME`
with a batch of states. The values must have the bits of the library's own, also under vmap. The gradients of
a weighted sum of all results, by the coordinates of q and by all other differentiable inputs, are judged by
complex steps through the textbook's form of the function. Errors of up to 1e-9 of the largest element always
pass; a larger one is excused if changes of the inputs by 1e-13 change the right result as much.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from support.complex_step import Derivatives
from support.functions import OF_CONFIGURATIONS, OF_TRAJECTORIES

import rbdgen
from campaigns.forms import KINDS, Subject
from campaigns.paths import own_cache
from campaigns.verdicts import Array, ByRobots, Verdict, Verdicts, excuse_of, largest, perturb
from rbdgen.functions.function import Function
from rbdgen.functions.table import is_differentiable, lookup, rows_of
from rbdgen.model.build import Robot
from rbdgen.signature import BAR

__all__ = ["KINDS", "run", "run_case"]

SIZE = 200

SMALL = 1

FUNCTIONS = 3
"""The number of functions that are drawn for each robot."""

LARGEST = 3_000
"""The largest estimated number of operations; larger functions are only tried on smaller robots."""

MOVING = slice(2, 6)
"""The states at which all joints move, since exact friction has no derivative at rest."""

GOOD = 1e-9


def _of_robot(seed: int, number: int, traces: Collection[int]) -> Verdicts:
    del traces
    subject = Subject(seed, number)
    model = subject.robot.model
    names = [*rows_of(model), *OF_CONFIGURATIONS, *OF_TRAJECTORIES]
    drawn = [str(name) for name in np.random.default_rng(subject.seed).permutation(names)]
    rows = (lookup(name, model) for name in drawn if is_differentiable(name, model))
    chosen = [row for row in rows if row.estimate(model) < LARGEST][:FUNCTIONS]

    def verdicts(trace: int) -> Sequence[Verdict]:
        return [verdict(subject, chosen[trace])] if trace < len(chosen) else []

    return verdicts


CAMPAIGN = ByRobots("pytorch", KINDS, FUNCTIONS, 1, _of_robot)
run, run_case = CAMPAIGN.run, CAMPAIGN.run_case


def verdict(subject: Subject, row: Function) -> Verdict:
    model, what = subject.robot.model, f"{subject.kind}, {row.name}"
    inputs = {name: x[MOVING] for name, x in subject.states(row).items()}
    sized = row.sized(model)
    arrays = [inputs[x.name].reshape(-1, *x.shape) for x in sized.inputs]
    rng = np.random.default_rng(subject.seed)
    weights = {y.name + BAR: rng.normal(size=(len(arrays[0]), y.size)) for y in sized.outputs}
    made = lookup(f"{row.name}_vjp", model).differentiated
    assert made is not None
    places = [[x.name for x in sized.inputs].index(x.name) for x in made.by]
    problem, ours = gradients(subject.robot, row.name, arrays, list(weights.values()), places)
    if problem is not None:
        return Verdict(f"{what}: {problem}", wrong=True)
    judge = Derivatives(model, made.of, made.by, coordinates=True)
    right = judge.gradients({**inputs, **weights})
    worst = max(largest(x - y) for x, y in zip(ours, right, strict=True))
    good = GOOD * max(1.0, *(largest(y) for y in right))
    if worst <= good:
        return Verdict()
    changed = judge.gradients({**perturb(inputs, rng), **weights})
    excuse = excuse_of(changed, right)
    if worst <= good + excuse or not np.isfinite(good):
        return Verdict(ill_conditioned=True)
    return Verdict(
        f"{what}: gradients are off by {worst:.1e}, {good:.1e} is good, {excuse:.1e} excused", wrong=True
    )


def gradients(
    robot: Robot, name: str, arrays: Sequence[Array], weights: Sequence[Array], places: Sequence[int]
) -> tuple[str | None, list[Array]]:
    """A message if the values are wrong, else None, and the gradients (states, size) of the weighted results.

    The gradients are by the inputs with these places.
    """
    import torch  # noqa: PLC0415

    from rbdgen.frameworks.in_torch import bridge  # noqa: PLC0415

    bridge()  # the bridge is shared by all libraries, and kept in the user's cache
    with own_cache():
        library = rbdgen.build(robot, functions=[name])
        call: Any = getattr(library.torch, name)
        leaves = [torch.tensor(x, requires_grad=k in places) for k, x in enumerate(arrays)]
        results = _several(call(*leaves))
        own = _several(getattr(library, name)(*arrays))
        mapped = _several(torch.vmap(call)(*(x.detach() for x in leaves)))
        for x, several, y in zip(results, mapped, own, strict=True):
            if not np.array_equal(x.detach().numpy(), y, equal_nan=True):
                return "the values are not the library's", []
            if not np.array_equal(several.numpy(), y, equal_nan=True):
                return "the values under vmap are not the library's", []
        loss = sum(
            (torch.tensor(w).reshape(y.shape) * y).sum() for w, y in zip(weights, results, strict=True)
        )
        found = torch.autograd.grad(loss, [leaves[k] for k in places])
    return None, [x.numpy().reshape(len(x), -1) for x in found]


def _several(results: Any) -> Sequence[Any]:
    return results if isinstance(results, tuple) else (results,)
