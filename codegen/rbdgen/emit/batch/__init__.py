"""Batch functions: a function's statements on SIMD vectors, with one state in each lane.

With contraction off and the built-in sine and cosine, a batch function and single calls return the same bits,
with one exception. The batch functions of programs with loops leave out operations on elements that are known
to be 0, so a result that is 0 may have the other sign.
"""
