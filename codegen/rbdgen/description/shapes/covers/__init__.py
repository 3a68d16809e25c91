"""Capsules that cover the shapes of links, and files that name capsules and pairs. Start with `links.py`."""
