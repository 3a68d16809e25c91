"""Articulated bodies: the steps of forward dynamics and M^-1, and joints that follow others."""
