"""The webhooks app; it hears of every fact the moment the ledger records it."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        from . import events  # noqa: F401  # the kinds of facts register themselves
        from .handlers import subscribe

        subscribe()
