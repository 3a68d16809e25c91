"""Bounds of the values and of the rounding errors of functions, over ranges of their inputs."""
