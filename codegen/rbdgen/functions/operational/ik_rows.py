"""The row of a step of inverse kinematics."""

from __future__ import annotations

from rbdgen.functions.arguments import Q, V
from rbdgen.functions.form import Form, cheap
from rbdgen.functions.function import Function
from rbdgen.functions.needs import FRAMES
from rbdgen.functions.operational.inverse_kinematics import frame_ik_step
from rbdgen.signature import Argument, Signature

_SOURCE = "Wampler 1986, Nakamura and Hanafusa 1986; limits as in Bertsekas 1982"

DAMPING = Argument(
    "ik_damping",
    "nonnegative",
    (1,),
    "m^2, 1",
    "added to the diagonal of J W J^T, such as 1e-6; larger near singular configurations",
    default=1e-6,
)


def _limit(name: str, which: str) -> Argument:
    meaning = f"{which} limits of q, with infinity for none; only joints with one coordinate have limits"
    return Argument(name, "held", ("nq",), "rad, m", meaning)


FRAME_IK_STEP = Function(
    Signature(
        "frame_ik_step",
        (
            Q,
            Argument("R_target", "held", ("nf", 3, 3), "1", "from each frame's wanted axes to the world's"),
            Argument("p_target", "held", ("nf", 3), "m", "each frame's wanted origin in the world"),
            _limit("q_lower", "lower"),
            _limit("q_upper", "upper"),
            DAMPING,
        ),
        (
            Argument("dq", V.kind, V.shape, "rad, m", "the step: q goes on to integrate(q, dq)"),
            Argument(
                "frame_error",
                "values",
                ("nf", 6),
                "m, 1",
                "[R^T (p_target - p); 2 sin(angle / 2) axis of R^T R_target] of each frame at q",
            ),
        ),
    ),
    "a step of inverse kinematics toward placements of frames: damped least squares within limits",
    (
        Form("by_columns", _SOURCE, frame_ik_step, degrees="independent"),
        cheap("from_tip", "the same in body axes chosen by count", frame_ik_step, "independent"),
    ),
    operations=lambda size: (
        124 * size.carriers + 160 * size.frames + 21 * size.frame_pairs + 110 * size.frame_solves
    ),
    needs=(FRAMES,),
    on_request=True,
)

ROWS = (FRAME_IK_STEP,)
