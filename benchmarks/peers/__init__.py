"""The libraries that generated functions are measured against, one driver each."""
