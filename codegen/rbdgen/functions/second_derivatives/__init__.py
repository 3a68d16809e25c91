"""Second derivatives of inverse and of forward dynamics: third-order tensors of their own size."""
