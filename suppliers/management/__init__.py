"""Commands of suppliers, and what reads their files."""
