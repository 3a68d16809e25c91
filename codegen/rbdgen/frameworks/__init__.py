"""A library's functions inside automatic differentiation: frameworks call the compiled C itself."""
