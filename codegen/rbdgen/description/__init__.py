"""Robot descriptions: the frozen types that hold one, and the readers of every format that produces them."""
