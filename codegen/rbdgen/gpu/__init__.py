"""Launches the kernels of a generated folder from Python, on arrays in the memory of GPUs of NVIDIA."""
