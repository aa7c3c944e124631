"""Migrations of the organizations app."""
