"""One file for each command; every one is idempotent."""
