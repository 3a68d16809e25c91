"""Computes the outputs of a function from more basic functions, from poses of links up to second derivatives.

The poses of the links follow from the description, by rotation matrices. Jacobians, velocities and
accelerations of frames are finite differences of poses. Torques are sums of the Newton-Euler equations of all
links. All other outputs follow from torques, energies and Jacobians, and derivatives are finite differences
of their functions. No step of an algorithm of the package is repeated: a function is only compared with
textbook forms of others.
"""
