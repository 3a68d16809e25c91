"""The exponential map of configurations (q moved by a velocity), its inverse, and their derivatives."""
