"""The tables of medications: medications, interactions, doses, and what codes of allergies mean."""
