"""The consequences of `--emit rust` for the other options."""

from __future__ import annotations

from rbdgen.options import Options
from rbdgen.wording import option


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude a crate, with advice; None if they do not."""
    del detail, small_machine
    if options.target == "wasm32":
        return f"a crate compiles C for a processor; take {option('target', 'portable')}"
    return None
