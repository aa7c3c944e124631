"""Proposed changes of orders as they are stored: what they say, and what they hold of limits meanwhile."""
