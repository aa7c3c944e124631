"""The viewsets of the app, one module for each group of endpoints."""
