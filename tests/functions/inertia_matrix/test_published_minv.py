"""Tests find each of the three faults in the first published listing of the M^-1 recursion.

The listing is that of Carpentier, Analytical Inverse of the Joint Space Inertia Matrix, LAAS 2018. A fault is
one changed expression of `minv.py`. In exact arithmetic, M Minv = 1 fails on the smallest tree in which the
fault has an effect, and holds on smaller trees.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from support.rationals import Rationals

from rbdgen.functions.inertia_matrix import inverse as minv
from rbdgen.functions.inertia_matrix.composite import crba
from rbdgen.model.model import WORLD

Tree = tuple[tuple[int, ...], str]

ONE: Tree = ((WORLD,), "R")
PAIR: Tree = ((WORLD, 0), "RR")
CHAIN: Tree = ((WORLD, 0, 1), "RRR")
BRANCHES_OF_THE_WORLD: Tree = ((WORLD, 0, WORLD, 2), "RRRR")
FORK: Tree = ((WORLD, 0, 0), "RRP")
FLOATING_FORK: Tree = ((WORLD, 0, 0), "FRR")

ALL = (ONE, PAIR, CHAIN, BRANCHES_OF_THE_WORLD, FORK, FLOATING_FORK)


class Fault(NamedTuple):
    """A wrong expression of the listing, the robots on which it has no effect, and those on which it must
    have one."""

    name: str
    mended: str
    listed: str
    hidden: tuple[Tree, ...]
    caught: tuple[Tree, ...]


FAULTS = (
    Fault(
        "Minv[i, i] is used before it is set",
        "combination(factor.U, [Minv[k][column] for k in own])",
        "combination(factor.U, [0 if column in own else Minv[k][column] for k in own])",
        hidden=(ONE,),
        caught=(PAIR, CHAIN, BRANCHES_OF_THE_WORLD, FORK, FLOATING_FORK),
    ),
    Fault(
        "what passes to the parent overwrites F_i instead of adding to it",
        "passed = F[i][column] + combination(",
        "passed = combination(",
        hidden=(ONE, PAIR, BRANCHES_OF_THE_WORLD, FORK, FLOATING_FORK),
        caught=(CHAIN,),
    ),
    Fault(
        "the last pass stops at the subtree's columns",
        "for column in range(first, model.nv):",
        "for column in range(first, model.subtree_dof_end[i]):",
        hidden=(ONE, PAIR, CHAIN, BRANCHES_OF_THE_WORLD),
        caught=(FORK, FLOATING_FORK),
    ),
)

every_fault = pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])


def with_fault(fault: Fault) -> ModuleType:
    """The module `minv` with one expression as it was published."""
    source = Path(minv.__file__).read_text()
    assert source.count(fault.mended) == 1, "the recursion was rewritten: say anew what the fault replaces"
    module = ModuleType("minv_as_listed")
    exec(compile(source.replace(fault.mended, fault.listed), "minv_as_listed", "exec"), module.__dict__)
    return module


def inverts(module: ModuleType, tree: Tree) -> bool:
    """Whether M Minv = 1, exactly."""
    r = Rationals(7)
    model = r.model(*tree)
    q = r.coordinates(model)
    M, Minv = crba(model, q), module.minv_recursive(model, q)
    product: list[list[Any]] = [
        [
            sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
            for column in zip(*Minv, strict=True)
        ]
        for row in M
    ]
    return product == [[int(i == j) for j in range(model.nv)] for i in range(model.nv)]


@pytest.mark.parametrize("tree", ALL, ids=str)
def test_the_mended_recursion_inverts(tree: Tree) -> None:
    assert inverts(minv, tree)


@every_fault
def test_a_fault_is_caught(fault: Fault) -> None:
    module = with_fault(fault)
    assert [inverts(module, tree) for tree in fault.caught] == [False] * len(fault.caught)


@every_fault
def test_a_fault_hides_where_it_is_said_to(fault: Fault) -> None:
    """This shows that other tests catch the fault itself, and not an error in reproducing it."""
    module = with_fault(fault)
    assert {*fault.hidden, *fault.caught} == set(ALL)
    assert [inverts(module, tree) for tree in fault.hidden] == [True] * len(fault.hidden)
