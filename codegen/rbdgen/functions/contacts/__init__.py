"""Contacts: their motion, dynamics constrained by them, and their forces."""
