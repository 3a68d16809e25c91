"""Benchmarks: compare generated functions with other libraries, on the same robots, states and machine."""
