"""The README.md of a folder, and the page of figures that is appended to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rbdgen.emit.contexts import contact_text
from rbdgen.emit.folder import Folder, FolderFunction
from rbdgen.emit.names import markdown_text
from rbdgen.emit.package import ContactFacts, FrameFacts, JointFacts, RobotFacts
from rbdgen.emit.text import filled


def files(folder: Folder) -> dict[str, str]:
    """README.md, the page for readers who open the folder, by its path."""
    options = folder.options
    page = filled(
        "readme/README.md.jinja",
        robot=folder.robot,
        title=markdown_text(folder.facts.robot_name),
        prefix=options.prefix,
        package=options.package and not options.small_machine,
        flags=" ".join(options.flags),
        module=options.module,
        rows=list(map(_row, folder.functions)),
        example=folder.functions[0].shown,
        batches=bool(folder.batches),
        beside=[
            {"name": beside.name, "files": [Path(file).stem for file in beside.files]}
            for beside in folder.beside
        ],
        joints=list(map(_joint, folder.facts.joints)),
        frames=[_frame(frame, folder.facts) for frame in folder.facts.frames],
        contacts=list(map(_contact, folder.facts.contacts)),
        sets=[
            {"name": name, "contacts": ", ".join(map(markdown_text, contacts))}
            for name, contacts in folder.facts.contact_sets.items()
        ],
    )
    return {"README.md": page}


def figures_page(target: str, compiler: str, flags: str, functions: Mapping[str, Mapping[str, Any]]) -> str:
    """The page to append to README.md: a table of figures measured on the objects of a cross compiler.

    `functions` maps a name to the facts of the manifest, with `object_bytes`, `stack_bytes`, the same two
    of `debugged`, `instructions` and `outside`.
    """
    rows = [
        {
            "name": name,
            "flash": f"{facts['object_bytes']}",
            "stack": f"{facts['stack_bytes']}",
            "debugged_flash": f"{facts['debugged']['object_bytes']}",
            "debugged_stack": f"{facts['debugged']['stack_bytes']}",
            "instructions": f"{facts['instructions']}",
            "error": f"{facts['float_error']:.1e}" if "float_error" in facts else "",
        }
        for name, facts in functions.items()
    ]
    outside = sorted({symbol for facts in functions.values() for symbol in facts["outside"]})
    return filled(
        "readme/FIGURES.md.jinja", target=target, compiler=compiler, flags=flags, rows=rows, outside=outside
    )


def module_page(module: str, size: int, functions: Mapping[str, Mapping[str, Any]]) -> str:
    """The page to append to README.md: the bytes of a WebAssembly module and of its functions.

    `functions` maps a name to the facts of the manifest, with `object_bytes` and `stack_bytes`.
    """
    rows = [(name, facts["object_bytes"], facts["stack_bytes"]) for name, facts in functions.items()]
    return filled("readme/MODULE.md.jinja", module=module, size=size, rows=rows)


def kernels_page(compiler: str, functions: Mapping[str, Mapping[str, Any]]) -> str:
    """The page to append to README.md: the figures of compiled kernels.

    `functions` maps a name to the facts of the manifest, with `cuda`.
    """
    rows = [
        (name, facts["cuda"], arch, figures)
        for name, facts in functions.items()
        for arch, figures in facts["cuda"]["architectures"].items()
    ]
    return filled("readme/KERNELS.md.jinja", compiler=compiler, rows=rows)


def _row(function: FolderFunction) -> dict[str, str]:
    return {
        "symbol": function.shown.symbol,
        "doc": function.source.doc.replace("|", "\\|"),
        "inputs": "<br>".join(argument.doc for argument in function.shown.inputs),
        "outputs": "<br>".join(argument.doc for argument in function.shown.outputs),
        "operations": str(function.source.cost),
    }


def _joint(joint: JointFacts) -> dict[str, Any]:
    return {
        "name": markdown_text(joint.name),
        "idx_q": joint.idx_q,
        "idx_v": joint.idx_v,
        "limits": _limits(joint),
    }


def _frame(frame: FrameFacts, facts: RobotFacts) -> dict[str, str]:
    carrier = "the world" if frame.body < 0 else facts.bodies[frame.body].name
    return {"name": markdown_text(frame.name), "body": markdown_text(carrier)}


def _contact(contact: ContactFacts) -> dict[str, str]:
    rows = f"{contact.first_row} to {contact.first_row + contact.rows - 1}"
    return {
        "name": markdown_text(contact.name),
        "rows": rows,
        "holds": markdown_text(contact_text(contact)),
    }


def _limits(joint: JointFacts) -> list[str]:
    limits = (joint.lower, joint.upper, joint.effort, joint.velocity)
    return ["" if limit is None else f"{limit:.6g}" for limit in limits]
