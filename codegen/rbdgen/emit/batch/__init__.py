"""Batch functions: the statements of a function over vectors, one state a lane.

With contraction off and the built-in sine and cosine a batch function and single calls give the same bits.
One exception: batch functions of loops leave out operations with elements that are known to be 0. A result
that is 0 may then have the other sign.
"""
