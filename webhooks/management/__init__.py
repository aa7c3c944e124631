"""Commands of the webhooks app."""
