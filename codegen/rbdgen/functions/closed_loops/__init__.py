"""Closed loops: their constraint residual, its Jacobian and its drift, and dynamics by independent
velocities.
"""
