"""An interpreter of graphs that bounds every value and its rounding error over a box of inputs."""
