"""Named frames: placements, velocities and accelerations, Jacobians, and derivatives of frame motion."""
