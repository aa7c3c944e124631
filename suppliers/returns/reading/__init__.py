"""Returns as both parties read them, at the same addresses."""
