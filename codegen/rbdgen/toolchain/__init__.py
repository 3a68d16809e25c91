"""Importable packages from emitted C: compilers, flags, objects, and the cache of finished builds."""
