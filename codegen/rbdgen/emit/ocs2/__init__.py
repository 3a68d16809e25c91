"""Models for OCS2, in C++: system dynamics with their linear approximation."""
