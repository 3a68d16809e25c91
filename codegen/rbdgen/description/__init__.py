"""What the robot file says: frozen types and the URDF reader."""
