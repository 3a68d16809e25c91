"""The version, in one place for code, manifest and package."""

__version__ = "0.1.0"
