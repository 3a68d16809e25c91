"""Equations of motion for people to read: in closed form, simplified, in symbols of masses and lengths."""
