"""Models for acados: a module in Python that makes them of the CasADi functions of the folder."""
