"""The bounds of values and of rounding errors, as a C header."""
