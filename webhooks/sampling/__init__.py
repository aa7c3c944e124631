"""A signed sample of an event, sent at once, with the receiver's answer shown: nothing of it is kept."""
