"""Files from graphs: C statements, prototypes, self-tests, manifest, README and a Python package."""
