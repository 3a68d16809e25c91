"""C99: statements of a graph, and the printed pieces that the templates lay out."""
