"""Signed delivery of what happened to whoever registered for it."""
