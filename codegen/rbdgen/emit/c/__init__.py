"""C99: the statements of a graph, and the printed pieces that the templates arrange."""
