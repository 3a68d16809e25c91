"""From emitted C to an importable package: compilers, flags, objects, the cache of finished builds."""
