"""The stock of a supplier at its locations."""
