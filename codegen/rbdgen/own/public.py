"""The public names for functions of a user's own, which `rbdgen` imports on first use."""

from rbdgen.own.algebra import (
    cholesky,
    congruence,
    cross,
    exp3,
    inv,
    log3,
    norm,
    quaternion_inverse,
    quaternion_product,
    rotation,
    skew,
    solve,
)
from rbdgen.own.arrays import numbers as array
from rbdgen.own.arrays import zeros
from rbdgen.own.declaration import Quantity
from rbdgen.own.imported import from_casadi, from_sympy
from rbdgen.own.text import function

__all__ = [
    "Quantity",
    "array",
    "cholesky",
    "congruence",
    "cross",
    "exp3",
    "from_casadi",
    "from_sympy",
    "function",
    "inv",
    "log3",
    "norm",
    "quaternion_inverse",
    "quaternion_product",
    "rotation",
    "skew",
    "solve",
    "zeros",
]
