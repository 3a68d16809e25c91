"""CUDA: kernels in which each thread computes a function of one state."""
