"""The inertia of a rigid body as ten parameters, for users: with numbers, with symbols, and as C."""
