"""From graphs to files: C statements, prototypes, self-tests, manifest, README and a Python package."""
