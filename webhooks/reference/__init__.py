"""What a receiver must know beforehand: the catalogue of events, and how and from where we send."""
