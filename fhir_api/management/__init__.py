"""Commands of the clinical record."""
