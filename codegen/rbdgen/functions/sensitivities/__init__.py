"""Derivatives with respect to parameters of the robot that stay inputs."""
