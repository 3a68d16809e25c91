"""The consequences of `--emit javascript` for the other options."""

from __future__ import annotations

from rbdgen.options import Options
from rbdgen.wording import option


def refused(options: Options, detail: str, *, small_machine: bool) -> str | None:
    """The reason why the options exclude functions in JavaScript, with advice; None if they do not."""
    del detail
    if small_machine:
        return f"a small machine runs no JavaScript; leave {option('target', options.target)} out"
    if options.real != "double":
        return (
            f"JavaScript computes in double; leave {option('real', options.real)} out, or take "
            f"{option('target', 'wasm32')}, which has both"
        )
    if options.trig == "libm":
        return f"JavaScript has other sines than a C library; leave {option('trig', 'libm')} out"
    if options.contract:
        return f"JavaScript fuses no operations; leave {option('contract')} out"
    if any(name.startswith("logchol:") for name in options.params):
        return (
            "JavaScript has no library that converts log-Cholesky parameters; ask for 'ten:LINK' in place of "
            "'logchol:LINK'"
        )
    return None
