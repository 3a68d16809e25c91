"""A module of Julia that calls the shared library of the folder."""
