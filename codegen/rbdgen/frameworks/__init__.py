"""The functions of a library for JAX, PyTorch and CasADi, which call the compiled C and differentiate it."""
