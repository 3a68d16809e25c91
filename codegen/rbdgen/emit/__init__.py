"""From graphs to files: statements, prototypes, self-test, manifest, README and a Python package."""
