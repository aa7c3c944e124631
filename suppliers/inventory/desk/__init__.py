"""The recall desk of the staff."""
