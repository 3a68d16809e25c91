"""The joint-space inertia matrix M and its inverse."""
