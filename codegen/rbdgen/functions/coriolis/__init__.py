"""The Coriolis matrix."""
