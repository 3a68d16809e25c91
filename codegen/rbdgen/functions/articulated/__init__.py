"""Articulated bodies: the steps for forward dynamics and M^-1, also for robots on which joints follow
others.
"""
