"""Time steps with frictional contacts that open, stick and slide."""
