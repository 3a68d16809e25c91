"""Choices by counts of operations: body axes, forms of algorithms, passes."""
