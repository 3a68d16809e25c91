"""The cost and the guarantees of compiled code, read from its objects: flash, stack, instructions,
promises.
"""
