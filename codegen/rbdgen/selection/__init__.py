"""What is chosen by counting: frames, forms of algorithms, passes."""
