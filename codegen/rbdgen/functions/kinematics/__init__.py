"""Named frames: where they are, how they move, their Jacobians and the derivatives of their motion."""
