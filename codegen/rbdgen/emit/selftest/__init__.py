"""Contents of the self-tests of a generated folder: golden states, and a hash of the results at others."""
