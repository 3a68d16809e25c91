"""The last passes of a function: those that change its inputs and outputs, and the order of its lines.

They follow the passes that simplify the chosen form (`graph.programs.passes.TO_C`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rbdgen.functions.function import Function
from rbdgen.graph.programs.angles_given import angles_given, angles_of, signature_given
from rbdgen.graph.programs.passes import ORDER, apply
from rbdgen.graph.programs.program import Program
from rbdgen.graph.programs.sparsity import sparse
from rbdgen.graph.programs.trig_stages import in_trig_stages
from rbdgen.graph.programs.verify import verify_program
from rbdgen.pipeline.request import Request
from rbdgen.signature import SizedSignature

LastPass: TypeAlias = Callable[[Program, SizedSignature], tuple[Program, SizedSignature]]
"""Maps a program and its signature to others that compute the same values."""


def last_passes(request: Request, function: Function) -> tuple[LastPass, ...]:
    """The passes that the options ask for, in the order in which they run."""
    angles = request.model.manifold.angles
    packed = function.packed(request.options.packed)

    def given(program: Program, signature: SizedSignature) -> tuple[Program, SizedSignature]:
        """Makes sines and cosines inputs, in place of the angles."""
        own = angles_of(signature, angles)
        return angles_given(program, own), signature_given(signature, own)

    def without_zeros(program: Program, signature: SizedSignature) -> tuple[Program, SizedSignature]:
        """Marks the elements that may differ from 0 in the signature; packed outputs hold only these."""
        signature, program = sparse(signature, program, packed)
        return program, signature

    trig = request.options.trig
    return (
        *([given] if trig == "input" else []),
        without_zeros,
        *([in_stages] if trig == "builtin" else []),
    )


def in_stages(program: Program, signature: SizedSignature) -> tuple[Program, SizedSignature]:
    """Divides the program into stages, so that no angle depends on a sine or cosine of its own stage.

    The built-in sine and cosine take all angles of a straight line at once.
    """
    cut = in_trig_stages(program)
    return (program if cut is program else apply(cut, ORDER)), signature


def finished(
    chosen: Program, signature: SizedSignature, passes: Sequence[LastPass]
) -> tuple[Program, SizedSignature]:
    """The chosen program and its signature after these passes. The program is verified before the first pass
    and after the last one.
    """
    verify_program(chosen)
    program = chosen
    for step in passes:
        program, signature = step(program, signature)
    if program is not chosen:
        verify_program(program)
    return program, signature
