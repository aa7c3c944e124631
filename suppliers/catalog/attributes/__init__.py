"""Attributes of products: what staff define, and the values that suppliers give."""
