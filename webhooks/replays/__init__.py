"""Sending a stretch of the past again: asked for over HTTP, carried out batch by batch by whoever has time."""
