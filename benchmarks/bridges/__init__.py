"""Generated functions inside frameworks of automatic differentiation, beside what these do by themselves."""
