"""Closed loops: what they keep at zero, its Jacobian, its drift."""
