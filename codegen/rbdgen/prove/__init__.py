"""Proves by Frama-C/Eva that generated C has no undefined behaviour."""
