"""Celery tasks of prescriptions, imported here because Celery looks for them here."""

from .evidence.tasks import checkpoint

__all__ = ["checkpoint"]
