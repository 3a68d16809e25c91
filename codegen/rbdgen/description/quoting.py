"""Names and other text of a file, fit for a message of one line."""

from __future__ import annotations


def quoted(name: str, most: int = 80) -> str:
    """In quotes, control characters escaped, long ones cut."""
    said = repr(name)
    return said if len(said) <= most + 2 else f"{said[: most - 2]}...{said[0]}"


def escaped(text: str, most: int = 80) -> str:
    """As `quoted`, for what needs no quotes: an element's tag, another program's message."""
    return quoted(text, most)[1:-1]


def told(value: object) -> str:
    """A value that was passed, on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:60]}..."
