"""Goods that buyers send back: the request, the way back, what their suppliers found, and what follows from it."""
