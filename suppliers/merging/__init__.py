"""Merging a supplier that only one buyer knows into a supplier on the platform."""
