"""The inertia of a rigid body as ten parameters, for users: numbers, symbols, C."""
