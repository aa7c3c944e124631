"""Prescriptions and their lifecycle."""
