"""The Python package: the loader, and the C that binds the functions to it."""
