"""Measures the C of CasADi's own generator, with the same driver as other C."""

from __future__ import annotations

import operator
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from benchmarks import toolchain
from benchmarks.c_driver import TEMPLATES, CFunction, Timed, measure
from benchmarks.toolchain import Compiler, ToolError
from rbdgen.graph.node import Graph

FLAGS = ("-std=gnu99", "-O3", "-march=native")


def graph_function(name: str, graph: Graph) -> Any:
    """The `casadi.Function` with exactly the graph's operations, and dense vectors as inputs and outputs."""
    import casadi  # noqa: PLC0415  (takes long to import, and other contestants do not need it)

    arrays = {array.name: casadi.SX.sym(array.name, array.size) for array in graph.inputs}
    operations: dict[str, Callable[..., Any]] = {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "neg": operator.neg,
        "sq": casadi.sumsqr,
        **{op: getattr(casadi, op) for op in ("sqrt", "sin", "cos")},
    }
    values: list[Any] = []
    for op, arguments, value in graph.nodes:
        if op == "const":
            values.append(casadi.SX(value))
        elif op == "input":
            array, element = graph.input_element(int(value))
            values.append(arrays[array][element])
        else:
            values.append(operations[op](*(values[argument] for argument in arguments)))
    outputs = [casadi.vertcat(*(values[element] for element in output.elements)) for output in graph.outputs]
    return casadi.Function(name, list(arrays.values()), [casadi.densify(output) for output in outputs])


def source_text(function: Any, real: Literal["double", "float"] = "double") -> str:
    """The C that CasADi prints for a `casadi.Function`, and a wrapper `<name>_plain` of plain arguments.

    The arrays hold CasADi's nonzeros: column after column, structural zeros left out.
    """
    import casadi  # noqa: PLC0415  (takes long to import, and other contestants do not need it)

    generator = casadi.CodeGenerator(function.name(), {"casadi_real": real})
    generator.add(function)
    shim = TEMPLATES.get_template("casadi_shim.c.jinja").render(
        name=function.name(),
        inputs=range(function.n_in()),
        outputs=range(function.n_out()),
        sz_arg=function.sz_arg(),
        sz_res=function.sz_res(),
        sz_iw=function.sz_iw(),
        sz_w=function.sz_w(),
    )
    return f"{generator.dump()}{shim}"


def measure_casadi(
    function: Any,
    inputs: Sequence[ArrayLike],
    *,
    real: Literal["double", "float"] = "double",
    compiler: Compiler = toolchain.GCC,
    flags: Sequence[str] = FLAGS,
    relinks: int = 1,
    seconds: float = 0.2,
) -> Timed:
    """The time of a call of the C that CasADi generates for `function`, in ns.

    Args:
        function: a `casadi.Function` of dense vectors.
        inputs: one array per argument, (states, length).
        real: the C type; in double the values are compared with CasADi's own interpreter.
        compiler, flags, relinks, seconds: as for `c_driver.measure`.

    Raises:
        ToolError: the compiler or the driver fails, or the compiled values are not CasADi's.
    """
    shape = CFunction(
        f"{function.name()}_plain",
        tuple(function.nnz_in(k) for k in range(function.n_in())),
        tuple(function.nnz_out(k) for k in range(function.n_out())),
        real,
    )
    with tempfile.TemporaryDirectory(prefix="bench-casadi-") as folder:
        source = Path(folder) / f"{function.name()}.c"
        source.write_text(source_text(function, real))
        timed = measure(
            shape, [source], inputs, compiler=compiler, flags=flags, relinks=relinks, seconds=seconds
        )
    _compare(function, inputs, timed, 1e-9 if real == "double" else 1e-2)
    return timed


def _compare(function: Any, inputs: Sequence[ArrayLike], timed: Timed, tolerance: float) -> None:
    expected = function.call([np.asarray(array)[0] for array in inputs])
    for got, want in zip(timed.outputs, expected, strict=True):
        reference = np.array(want.nonzeros())
        error = np.max(np.abs(got[0] - reference), initial=0.0)
        if not error <= tolerance * (1.0 + np.max(np.abs(reference), initial=0.0)):
            raise ToolError(f"{function.name()}: compiled values are off by {error:g} from CasADi's own")
