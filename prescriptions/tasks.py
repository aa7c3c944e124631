"""Celery tasks of prescriptions, imported here because Celery looks for them here."""

from .recurring.tasks import make_recurring_drafts

__all__ = ["make_recurring_drafts"]
