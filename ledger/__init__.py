"""The append-only table of events: the outbox of the platform, and the record of who did what."""
