"""C functions for `casadi.external`: one state or several per call, with sparse derivatives."""
