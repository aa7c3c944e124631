"""The webhooks' history over time: its ranges are made ahead, dropped by age, and a body in it can be expunged."""
