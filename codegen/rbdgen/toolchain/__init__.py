"""From emitted C to an importable package: compilers, flags, objects, and the cache of finished builds."""
