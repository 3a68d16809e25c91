"""Forms of functions for robots whose joints have damping, friction, springs or rotors."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from rbdgen.functions.form import Form, Outputs, in_loops
from rbdgen.functions.function import Function
from rbdgen.functions.resistance import (
    freedoms,
    less,
    loops_with_added,
    loops_with_less,
    model_of,
    with_added,
)
from rbdgen.model.model import Model
from rbdgen.model.reduce import ReducedModel
from rbdgen.sweeps.inputs import State
from rbdgen.sweeps.loops import LoopedForm


@cache
def resisting(function: Function) -> Function:
    """The function with forms that include joint resistance. Every call for a function returns the same
    object.
    """
    inputs = {x.name for x in function.signature.inputs}
    taken = any(part.array in inputs for part in function.resistance)
    added = [part for part in function.resistance if part.array not in inputs]
    outputs = [x.name for x in function.signature.outputs]

    def resisted(form: Form) -> Form:
        made = form.loops

        def trace(robot: Model | ReducedModel, x: State) -> Outputs:
            model = model_of(robot)
            given = form.trace(robot, replace(x, tau=less(model, x)) if taken else x)
            arrays = dict(zip(outputs, map(list, given), strict=True))
            with_added(model, added, arrays, x)
            return list(arrays.values())

        def loops(reduced: ReducedModel) -> LoopedForm:
            assert made is not None
            looped = made(reduced)
            if not any(freedoms(reduced.model)):
                return looped
            if taken:
                looped = loops_with_less(reduced, looped)
            return loops_with_added(reduced, looped, added)

        if made is None:
            return replace(form, trace=trace)
        return replace(form, trace=in_loops(form.source, loops).trace, loops=loops)

    return replace(function, forms=tuple(map(resisted, function.forms))) if function.resistance else function
