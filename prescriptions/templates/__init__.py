"""Templates of prescriptions."""
