"""The page of a generated folder, and the page of figures that a small machine's objects add to it."""
