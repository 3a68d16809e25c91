"""Energy, the centre of mass, and centroidal momentum."""
