"""Equations of motion for people to read: closed, simplified, in symbols of masses and lengths."""
