"""Dynamics of chosen frames in operational space."""
