"""Makes names and other texts fit for a message of one line."""

from __future__ import annotations


def quoted(name: str, most: int = 80) -> str:
    """The name in quotes, with control characters escaped, cut after `most` letters."""
    said = repr(name)
    return said if len(said) <= most + 2 else f"{said[: most - 2]}...{said[0]}"


def escaped(text: str, most: int = 80) -> str:
    """The text of `quoted` without the quotes, for the tag of an element, or a message of another program."""
    return quoted(text, most)[1:-1]


def told(value: object) -> str:
    """The `repr` of a value on one line, cut after 60 letters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}..."
