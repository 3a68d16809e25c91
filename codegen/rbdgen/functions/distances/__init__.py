"""Distances of capsules and obstacles, and their derivatives."""
