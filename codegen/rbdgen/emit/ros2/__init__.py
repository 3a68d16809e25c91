"""A package of ROS 2: a solver of inverse dynamics and an effort controller, as plug-ins."""
