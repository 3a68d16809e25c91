"""Contacts: how they move, the dynamics that they constrain, and their forces."""
