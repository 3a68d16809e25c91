"""Closed loops: the residual of the constraints, its Jacobian and its drift, and dynamics in terms of
independent velocities.
"""
