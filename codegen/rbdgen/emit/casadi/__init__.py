"""Functions of CasADi in C: one state or several a call, with sparse derivatives, for `casadi.external`."""
