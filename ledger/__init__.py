"""Append-only facts: the one outbox, and who did what."""
