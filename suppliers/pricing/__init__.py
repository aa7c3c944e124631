"""The prices of a supplier's products."""
