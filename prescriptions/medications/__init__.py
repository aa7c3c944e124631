"""Tables of medications, and their search."""
