"""Writes of the app: each action demands an open transaction and records its events."""
