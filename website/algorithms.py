"""The pages of the families of functions, made from the rows of the table of functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rbdgen.errors import OptionError
from rbdgen.functions.elsewhere import MUJOCO, PINOCCHIO, Names, meant
from rbdgen.functions.form import Form
from rbdgen.functions.function import Function
from rbdgen.functions.table import ALL
from rbdgen.signature import FLOATING, Argument
from website.counts import Count
from website.families import FAMILIES, Family

NOTE: Final = "<!-- made by `python -m website.generate` from the table of functions -->\n"

_SIZES: Final = """\
The sizes are those of the robot: nq elements of q, nv degrees of freedom, nbodies moving bodies, nf frames,
nc rows of contacts. A call from Python takes and returns arrays with these shapes, or with further leading
axes, one element for each state."""


def index() -> str:
    """The page that lists the families."""
    lines = ["# Algorithms", "", NOTE, "Every function belongs to a family, and every family has a page.", ""]
    lines += ["| family | functions |", "|---|---|"]
    for family in FAMILIES:
        names = ", ".join(f"[`{name}`]({family.page}.md#{name})" for name in family.names)
        lines.append(f"| [{family.title}]({family.page}.md) | {names} |")
    return "\n".join([*lines, "", _SIZES, ""])


def page(family: Family, counted: Sequence[Count]) -> str:
    """The page of a family."""
    parts = [f"# {family.title}", NOTE, family.text, _SIZES]
    for name in family.names:
        parts += _function(ALL[name], [count for count in counted if count.function == name])
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _function(row: Function, counted: Sequence[Count]) -> Iterator[str]:
    signature = row.signature
    # an explicit anchor, as builders differ in those that they make of code
    yield f"## `{row.name}` {{ #{row.name} }}"
    yield f"{_sentence(row.summary)}"
    inputs = ", ".join(x.name for x in signature.inputs)
    yield f"```\n{', '.join(x.name for x in signature.outputs)} = lib.{row.name}({inputs})\n```"
    yield "\n".join(_arguments(signature.inputs, signature.outputs))
    if facts := list(_facts(row)):
        yield "\n".join(f"- {fact}" for fact in facts)
    yield "\n".join(_forms(row.all_forms))
    if counted:
        yield "\n".join(_counts(counted))


def _arguments(inputs: Sequence[Argument], outputs: Sequence[Argument]) -> Iterator[str]:
    yield "| | argument | shape | unit | meaning |"
    yield "|---|---|---|---|---|"
    for which, arguments in (("input", inputs), ("output", outputs)):
        for x in arguments:
            shape = f"({', '.join(map(str, x.shape))}{',' if len(x.shape) == 1 else ''})"
            packed = ", packed" if x.packed else ""
            default = "" if x.default is None else f"; {x.default} if it is left out"
            meaning = x.meaning.replace(FLOATING, "; with a floating base, its own come first: ")
            cells = (
                which,
                f"`{x.name}`",
                f"{shape if x.shape else 'a number'}{packed}",
                x.unit,
                meaning + default,
            )
            yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _facts(row: Function) -> Iterator[str]:
    if row.needs:
        needs = " and ".join(f"{need.of} ({_given(need.otherwise)})" for need in row.needs)
        yield f"The robot must have {needs}."
    if row.on_request:
        yield "The function is generated if it is asked for by name."
    if row.derivative_of:
        yield f"It differentiates {_link(row.derivative_of)}."
    if row.inverse:
        yield f"Its inverse is {_link(row.inverse)}."
    for library, names in (("Pinocchio", PINOCCHIO), ("MuJoCo", MUJOCO)):
        if there := [_elsewhere(entry) for entry in names if row.name in meant(entry)]:
            yield f"{library} has {', '.join(there)}."
    if row.pinocchio is not None:
        yield "Tests compare it with Pinocchio."
    yield from _identities(row.name)


def _identities(name: str) -> Iterator[str]:
    for other in ALL.values():
        for identity in other.identities:
            if name in identity.functions:
                among = ", ".join(_link(x) for x in identity.functions if x != name)
                rest = f" (with {among})" if among else ""
                yield f"Tests check that `{identity.what}`{rest}."


def _given(otherwise: str) -> str:
    """The options that give a feature, as Python takes them."""
    words = str(OptionError(otherwise))
    return f"`{words}`" if re.match(r"\w+=", words) else words


def _elsewhere(entry: Names) -> str:
    names = " or ".join(f"`{name}`" for name in entry.theirs)
    return f"{names} ({entry.remark})" if entry.remark else names


def _link(name: str) -> str:
    (page,) = (family.page for family in FAMILIES if name in family.names)
    return f"[`{name}`]({page}.md#{name})"


def _forms(forms: Sequence[Form]) -> Iterator[str]:
    yield "| form | source |"
    yield "|---|---|"
    for k, form in enumerate(forms):
        yield f"| `{form.name}`{' (the textbook)' if k == 0 else ''} | {form.source.replace('|', '&#124;')} |"


def _counts(counted: Sequence[Count]) -> Iterator[str]:
    yield "| robot | chosen form | operations | mul | add | div | sqrt | sin, cos |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for count in counted:
        kinds: Sequence[str] = count.kinds or ("",) * 5
        yield f"| {count.robot} | `{count.form}` | {count.total} | {' | '.join(kinds)} |"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def pages(counted: Sequence[Count]) -> Mapping[str, str]:
    """All pages by their path in docs/."""
    made = {f"algorithms/{family.page}.md": page(family, counted) for family in FAMILIES}
    return {"algorithms/index.md": index(), **made}
