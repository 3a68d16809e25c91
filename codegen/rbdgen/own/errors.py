"""The error of a user's text that cannot run on expressions."""

from __future__ import annotations

from rbdgen.errors import OptionError


class TextError(OptionError):
    """An operation that is impossible on values that are known only at run time. `own/text.py` adds the line
    of the user's text.
    """
