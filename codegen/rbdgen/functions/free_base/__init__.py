"""Dynamics of a robot on a free base, which is eliminated."""
