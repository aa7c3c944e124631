"""Migrations of the buyer's side."""
