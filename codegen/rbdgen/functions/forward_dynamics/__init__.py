"""Forward dynamics: joint accelerations from torques."""
