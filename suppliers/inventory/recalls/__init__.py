"""Recalls of lots: issued by the supplier, told to each buyer concerned, answered by buyers."""
