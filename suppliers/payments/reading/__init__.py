"""Payments as both parties read them."""
