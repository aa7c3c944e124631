"""Commands of suppliers."""
