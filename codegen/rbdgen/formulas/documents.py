"""Equations as whole documents: plain text, LaTeX, or an HTML page. Each lists the meaning of its symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

from rbdgen.description.quoting import escaped
from rbdgen.formulas.collect import Sum
from rbdgen.formulas.derive import EQUATION, QUANTITIES, Derived, Quantity
from rbdgen.formulas.notation import DIGITS, Latex, MathML, Notation, Text, is_rounded
from rbdgen.formulas.symbols import Symbol

Collected = Mapping[str, Sequence[Sum]]


MOST_ZEROS: Final = 3
"""If more elements of a matrix are 0, they are not written one by one."""


class _Line(NamedTuple):
    """An equation: the names of its left-hand side (two for M12 = M21), and its value."""

    names: Sequence[tuple[str, str]]
    value: Sum


def lines(quantity: Quantity, elements: Sequence[Sum], size: int) -> list[_Line]:
    """One equation per element. Those of a symmetric matrix are written once, and zeros are left out if there
    are many.
    """
    if not quantity.matrix:
        single = quantity.label in ("T", "U")
        return [_Line([(quantity.label, "" if single else str(k + 1))], x) for k, x in enumerate(elements)]
    comma = "," if size > 9 else ""

    def name(i: int, j: int) -> tuple[str, str]:
        return quantity.label, f"{i + 1}{comma}{j + 1}"

    found = []
    symmetric = quantity.label == "M"
    for i in range(size):
        for j in range(i if symmetric else 0, size):
            names = [name(i, j), name(j, i)] if symmetric and i != j else [name(i, j)]
            found.append(_Line(names, elements[i * size + j]))
    shown = [line for line in found if line.value.terms]
    return shown if len(found) - len(shown) > MOST_ZEROS else found


# ---- the meaning of the symbols


def used(derived: Derived) -> list[Symbol]:
    """The symbols with values that the equations contain."""
    found = {index for elements in derived.elements.values() for x in elements for index in x.symbols}
    held = (symbol for index, symbol in enumerate(derived.symbols) if index in found)
    roles = ("mass", "length", "inertia", "gravity")
    return sorted((symbol for symbol in held if symbol.role in roles), key=lambda x: roles.index(x.role))


def value_of(symbol: Symbol) -> str:
    """The value and unit of a symbol, such as 1.2 kg."""
    assert symbol.value is not None
    return f"{float(symbol.value):.15g} {symbol.unit}"


def coordinates(derived: Derived) -> Iterator[str]:
    """The elements of q, joint by joint. v are their rates, unless stated otherwise, and a the rates of v."""
    model = derived.robot.model
    for body in model.bodies:
        joint, name = body.joint, escaped(body.joint.name)
        if joint.follows is not None:
            at, multiple = joint.follows.idx_q, f"{joint.follows.multiplier:g}"
            yield f"{name} follows: {multiple} q{at + 1}"
        elif layout := joint.type.layout:
            q, v = (
                _range(x, first, n)
                for x, first, n in (("q", joint.idx_q, joint.nq), ("v", joint.idx_v, joint.nv))
            )
            yield f"{q} and {v}: {name} ({layout})"
        else:
            unit = "m" if joint.type.elements == ("length",) else "rad"
            yield f"q{joint.idx_q + 1}: {name} ({unit})"


def _range(letter: str, first: int, count: int) -> str:
    return f"{letter}{first + 1} .. {letter}{first + count}"


def notes(derived: Derived, elements: Collected) -> Iterator[str]:
    """Remarks on v and a, the resistance of joints, zeros that are not written, and rounding."""
    moving = [joint for joint in (body.joint for body in derived.robot.model.bodies) if joint.follows is None]
    if any(joint.nq > 1 for joint in moving):
        yield "v is dq/dt, except for joints whose v is described above; a is dv/dt"
    else:
        yield "v = dq/dt, a = dv/dt"
    resisting = [body.joint.resistance for body in derived.robot.model.bodies]
    for own, where in (
        ("damping", "C, h and tau"),
        ("stiffness", "g, h, tau and U"),
        ("armature", "M, tau and T"),
    ):
        if any(getattr(x, own) for x in resisting):
            yield f"{where} hold the {own} of the joints"
    size = derived.robot.model.sizes["nv"]
    written = {name: lines(QUANTITIES[name], of, size) for name, of in elements.items()}
    if any(sum(len(x.names) for x in own) < len(elements[name]) for name, own in written.items()):
        yield "elements that are not written are 0"
    if any(is_rounded(x) for of in elements.values() for x in of):
        yield f"numbers are rounded to {DIGITS} digits"


def title(derived: Derived) -> str:
    return f"Equations of motion of {escaped(derived.robot.model.name)}"


def is_whole(elements: Collected) -> bool:
    """Whether `elements` has all terms of M a + C v + g = tau."""
    return all(name in elements for name in EQUATION)


# ---- documents


def text(derived: Derived, elements: Collected) -> str:
    """The equations as plain text."""
    found = [title(derived)]
    if is_whole(elements):
        found.append("M(q) a + C(q, v) v + g(q) = tau")
    for name, of in elements.items():
        quantity = QUANTITIES[name]
        found += ["", f"{quantity.label}: {quantity.meaning}"]
        found += _written(Text(), derived, quantity, of, " = ", " = ")
    found += ["", "where"]
    found += [f"{symbol.name} = {value_of(symbol)} ({symbol.meaning})" for symbol in used(derived)]
    found += [*coordinates(derived), *notes(derived, elements)]
    return "\n".join(found) + "\n"


def _written(
    notation: Notation, derived: Derived, quantity: Quantity, of: Sequence[Sum], same: str, equals: str
) -> Iterator[str]:
    """Every equation of a quantity."""
    for line in lines(quantity, of, derived.robot.model.sizes["nv"]):
        names = same.join(notation.symbol(*name) for name in line.names)
        yield f"{names}{equals}{notation.sum(line.value, derived.symbols)}"


def latex(derived: Derived, elements: Collected) -> str:
    """The equations as LaTeX displays, for a document that uses amsmath."""
    found = [f"% {title(derived)}: needs \\usepackage{{amsmath}}"]
    if is_whole(elements):
        found.append(r"\[ M(q) \, a + C(q, v) \, v + g(q) = \tau \]")
    for name, of in elements.items():
        quantity = QUANTITIES[name]
        own = list(_written(Latex(), derived, quantity, of, " = ", " &= "))
        found += [f"% {quantity.meaning}", r"\begin{align*}", " \\\\\n".join(own), r"\end{align*}"]
    found += ["where", r"\begin{itemize}"]
    found += [
        rf"\item ${Latex().symbol(symbol.letter, symbol.subscript)} = {_latex_value(symbol)}$"
        f" ({_latex_text(symbol.meaning)})"
        for symbol in used(derived)
    ]
    found += [rf"\item {_latex_text(x)}" for x in (*coordinates(derived), *notes(derived, elements))]
    return "\n".join([*found, r"\end{itemize}"]) + "\n"


def display(derived: Derived, elements: Collected) -> str:
    """All equations as one LaTeX display, for notebooks."""
    rows = [
        row
        for name, of in elements.items()
        for row in _written(Latex(), derived, QUANTITIES[name], of, " = ", " &= ")
    ]
    return "$$\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}$$"


def _latex_value(symbol: Symbol) -> str:
    number, _, unit = value_of(symbol).partition(" ")
    spaced = unit.replace(" ", r"\,")
    return rf"{number}\,\mathrm{{{spaced}}}"


_LATEX: Final = {c: rf"\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _latex_text(plain: str) -> str:
    return "".join(_LATEX.get(c, c) for c in plain)


_STYLE: Final = (
    "body{font-family:serif;margin:2em auto;max-width:60em;padding:0 1em}"
    "math{display:block;margin:.6em 0;text-align:left}td{padding:.1em 1em .1em 0}td math{display:inline}"
    ".wide{overflow-x:auto}"
)


def html(derived: Derived, elements: Collected) -> str:
    """An HTML page that loads nothing: browsers draw MathML without help."""
    heading = escape(title(derived))
    found = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{heading}</title><style>{_STYLE}</style></head>',
        f"<body><h1>{heading}</h1>",
    ]
    if is_whole(elements):
        equation = "M(q) a + C(q, v) v + g(q) = τ"
        found.append(f"<p><i>{equation}</i></p>")
    equals = "<mo>=</mo>"
    for name, of in elements.items():
        quantity = QUANTITIES[name]
        found += [f"<h2><i>{quantity.label}</i>: {escape(quantity.meaning)}</h2>", '<div class="wide">']
        found += [
            f"<math><mrow>{one}</mrow></math>"
            for one in _written(MathML(), derived, quantity, of, equals, equals)
        ]
        found.append("</div>")
    found.append("<h2>where</h2><table>")
    for symbol in used(derived):
        written = MathML().symbol(symbol.letter, symbol.subscript)
        cells = f"<math>{written}</math>", escape(value_of(symbol)), escape(symbol.meaning)
        found.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    found.append("</table>")
    found += [f"<p>{escape(x)}</p>" for x in (*coordinates(derived), *notes(derived, elements))]
    page = "\n".join([*found, "</body></html>"]) + "\n"
    return page.encode("ascii", "xmlcharrefreplace").decode()
