"""Inverse dynamics: torques from joint accelerations, nonlinear effects and gravity torques."""
