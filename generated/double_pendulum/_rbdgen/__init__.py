"""A copy of the loader of rbdgen, and the C that binds the robot."""
