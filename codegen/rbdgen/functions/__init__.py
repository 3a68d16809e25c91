"""The functions for which code is generated: their algorithms, and the table that lists them."""
