"""Derivatives by parameters of the robot that stay inputs."""
