"""Migrations of the webhooks app."""
