"""Second derivatives of inverse and forward dynamics, which are third-order tensors."""
