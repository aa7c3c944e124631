"""Commands of prescriptions."""
