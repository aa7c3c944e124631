"""Prescriptions as a Django app; loads the platform's tables of medications after every migration."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

OWNER = "owner"


class PrescriptionsConfig(AppConfig):
    """One Django app of several feature folders."""

    name = "prescriptions"
    verbose_name = "Prescriptions"

    def ready(self) -> None:
        """Register events, received copies and what the record keeps, and the loading of the demonstration tables."""
        from . import registrations  # noqa: F401  # registers at import

        post_migrate.connect(_after_migrate, sender=self, dispatch_uid="prescriptions")


def _after_migrate(*, using: str, **_: Any) -> None:
    from .medications.demonstration import seed_demonstration

    if using == OWNER:
        seed_demonstration(using)
