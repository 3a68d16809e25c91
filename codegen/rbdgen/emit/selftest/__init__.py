"""What the self-tests of a generated folder hold: golden states, the bits of others."""
