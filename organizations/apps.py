"""The Django app; after every migration it builds the lifecycle guards and seeds the platform's roles."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

OWNER = "owner"


class OrganizationsConfig(AppConfig):
    """Organizations, tenants and memberships."""

    name = "organizations"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Organizations"

    def ready(self) -> None:
        """Register the events of this app, the proof of received copies, and the work after a migration."""
        from core.invariants import prove_with

        from . import events  # noqa: F401  # registers the types of events
        from .received import proof

        prove_with(proof.RULE, proof.breaches)

        post_migrate.connect(_after_migrate, sender=self, dispatch_uid="organizations")


def _after_migrate(*, using: str, **_: Any) -> None:
    from core.lifecycle import build_guards

    from .roles import seed_roles

    if using == OWNER:
        build_guards(connections[using])
    seed_roles(using)
