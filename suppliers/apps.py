"""The app of the supplier's side; seeds the platform's category tree after every migration."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

OWNER = "owner"


class SuppliersConfig(AppConfig):
    """Feature folders under one Django app."""

    name = "suppliers"
    verbose_name = "Suppliers"

    def ready(self) -> None:
        """Register the facts of this app, and what happens after a migration."""
        from .catalog import events  # noqa: F401  # registers the kinds of facts

        self._represent()
        post_migrate.connect(_after_migrate, sender=self, dispatch_uid="suppliers")

    def _represent(self) -> None:
        """Offer how this app's resources read to whoever tells others of its facts."""
        from api.listing import representation
        from ledger import public as ledger

        from .storefront.representations import ProductOut

        ledger.represent("product", scope="catalog.read", sql=representation(ProductOut.shape))


def _after_migrate(*, using: str, **_: Any) -> None:
    from .catalog.taxonomy import seed_taxonomy

    if using == OWNER:
        seed_taxonomy(using)
