"""Models for Crocoddyl, in C++: differential action models, and the state of a robot with quaternions."""
