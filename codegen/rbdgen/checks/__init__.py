"""Checks of generated code on this machine: self-tests, identities, comparison with Pinocchio, accuracy."""
