"""What a supplier has, and where."""
