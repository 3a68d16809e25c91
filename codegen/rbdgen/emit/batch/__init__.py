"""Batch functions: the statements of a function over vectors, one state a lane.

With contraction off and the built-in sine and cosine a batch function and single calls give the same bits. A
loop that knows zeros of its runs leaves these out of the batch function; a result that is 0 may then differ
in its sign.
"""
