"""Moving in the space of configurations: the exponential map of q, its inverse, and their derivatives."""
