"""The shapes of links, which are only read when something needs them. Start with `read.py`."""
