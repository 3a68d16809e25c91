"""Functions of a user's own: texts on arrays of expressions that call rows of the table."""
