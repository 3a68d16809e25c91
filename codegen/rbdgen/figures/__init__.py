"""What compiled code costs and promises, read from its objects: flash, stack, instructions, guarantees."""
