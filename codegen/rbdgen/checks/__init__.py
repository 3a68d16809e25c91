"""Whether generated code is right, on this machine, today: self-tests, identities, Pinocchio, accuracy."""
