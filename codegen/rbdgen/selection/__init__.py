"""What is chosen by counting operations: body axes, forms of algorithms, passes."""
