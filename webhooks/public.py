"""The door of webhooks: what other apps may use. Everything else in here is private."""

from .figures.attempts import latest_attempts

__all__ = ["latest_attempts"]
