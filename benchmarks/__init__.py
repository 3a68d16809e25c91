"""Benchmarks: generated functions against other libraries, on the same robots, states and machine."""
