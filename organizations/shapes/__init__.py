"""Shapes on the wire and the lists made of them."""
