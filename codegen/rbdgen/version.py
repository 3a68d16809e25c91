"""The version of code, manifest and package."""

__version__ = "0.1.0"
