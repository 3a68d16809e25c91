"""What is chosen by counting: body axes, forms of algorithms, passes."""
