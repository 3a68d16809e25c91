"""The steps from a robot to a generated folder or a library. `page.py` runs them; other modules implement
them."""
