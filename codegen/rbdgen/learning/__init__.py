"""Environments for reinforcement learning, made of an integration step of a library."""

from rbdgen.learning.environment import Environment, State

__all__ = ["Environment", "State"]
