"""Functions that are linear in inertial parameters, as matrices to multiply them with."""
