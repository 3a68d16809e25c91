"""Regressors: the matrices that multiply the inertial parameters in functions that are linear in them."""
