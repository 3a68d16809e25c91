"""The functions of closed loops; only robots that have one have them."""

from __future__ import annotations

from collections.abc import Callable

from rbdgen.functions.function import Form, Function, Identity, Outputs, Q, V, flat
from rbdgen.functions.loops.relative_motion import loop_drift, loop_jacobian, loop_position
from rbdgen.model.model import Model
from rbdgen.signature import Argument, Signature
from rbdgen.sweeps.inputs import State


def _form(trace: Callable[[Model, State], Outputs]) -> Form:
    """Columns of joints that follow others are folded already."""
    source = "frame 2 as seen from frame 1; Featherstone 2008, chapter 8"
    return Form("relative", source, trace, over="independent")


ROWS = (
    Function(
        Signature(
            "loop_position",
            (Q,),
            (
                Argument(
                    "residual",
                    "values",
                    ("nloop",),
                    "m, 1",
                    "0 in closed loops: frame 2 in frame 1, its origin, then sin(angle) axis",
                ),
            ),
        ),
        "what closed loops keep at zero",
        (_form(lambda model, x: [loop_position(model, x.q, x.naming)]),),
        operations=lambda size: 130 * size.loops,
    ),
    Function(
        Signature(
            "loop_jacobian",
            (Q,),
            (
                Argument(
                    "Jc",
                    "values",
                    ("nloop", "nv"),
                    "m, 1",
                    "Jc v: velocity of frame 2 as seen from frame 1, linear, then angular",
                ),
            ),
        ),
        "Jacobian of closed loops: Jc v = 0",
        (_form(lambda model, x: [flat(loop_jacobian(model, x.q, x.naming))]),),
        operations=lambda size: 160 * size.loops,
    ),
    Function(
        Signature(
            "loop_drift",
            (Q, V),
            (
                Argument(
                    "drift",
                    "values",
                    ("nloop",),
                    "m/s^2, rad/s^2",
                    "acceleration of frame 2 as seen from frame 1 at a = 0",
                ),
            ),
        ),
        "drift of closed loops: Jc a + drift = 0",
        (_form(lambda model, x: [loop_drift(model, x.q, x.v, x.naming)]),),
        operations=lambda size: 200 * size.loops,
        identities=(
            Identity(
                "loop drift at 2 v = 4 times that at v",
                ("loop_drift",),
                lambda call, x: (call("loop_drift", v=2 * x["v"]), 4 * call("loop_drift")),
            ),
        ),
    ),
)
