"""Compares generated functions inside CasADi, JAX and PyTorch with these frameworks' own code."""
