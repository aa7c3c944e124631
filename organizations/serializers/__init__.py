"""Bodies that the app reads; each refuses members it does not know."""
