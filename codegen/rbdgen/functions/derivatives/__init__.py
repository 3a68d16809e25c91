"""First derivatives of inverse and forward dynamics."""
