"""Puts the parts together; nobody imports it."""
