"""Filters of the lists."""
