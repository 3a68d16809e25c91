"""Functions as expressions, for a user's own work."""

from __future__ import annotations

from typing import Any

from rbdgen.errors import OptionError
from rbdgen.functions.function import Function
from rbdgen.graph.engine import new_engine
from rbdgen.graph.expressed import expressed
from rbdgen.graph.passes import released
from rbdgen.model.model import Model
from rbdgen.selection.axes import search
from rbdgen.selection.differentiate import Chooser


def chosen_expression(function: Function, model: Model, engine: str, name: str = "f") -> Any:
    """The cheapest straight line in an engine's own terms, see `Engine.expression`."""
    tracer = new_engine(engine)
    function.sized(model)  # raises errors before the search
    graph = Chooser(model, search(model), "graph").choose(function).program.straight
    if graph is None:
        raise OptionError(
            f"function '{function.name}' has loops, which no expression has; give variant=, a form of the "
            "function that is traced without them, or call the compiled function"
        )
    return expressed(released(graph), tracer, name)
