"""Batch functions: a function's statements on SIMD vectors, with one state in each lane.

With contraction off and the built-in sine and cosine, a batch function returns the same bits for a state
whatever the other states are. They are those of a single call, unless the function's batches have a program
of their own (`FunctionSource.same_bits`), and with one exception. The batch functions of programs with loops
leave out operations on elements that are known to be 0, so a result that is 0 may have the other sign.
"""
