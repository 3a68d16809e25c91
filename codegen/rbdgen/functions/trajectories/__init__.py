"""A robot's motion in time: steps of integration, and their derivatives."""
