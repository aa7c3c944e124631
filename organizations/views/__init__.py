"""The HTTP faces of the app, one file for each group of endpoints."""
