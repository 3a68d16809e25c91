"""World-aligned coordinates of a floating base."""
