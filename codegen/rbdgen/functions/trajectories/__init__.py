"""Integration steps in time, and their derivatives."""
