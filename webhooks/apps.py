"""The webhooks app; it hears of every fact the moment the ledger records it."""

from django.apps import AppConfig
from django.core import checks


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        from api.metrics import add_collector

        from . import events, notices  # noqa: F401  # the kinds of facts and who hears of them register themselves
        from .handlers import subscribe
        from .history import events as history_events  # noqa: F401
        from .history.retention import check_settings
        from .metrics import WebhookCollector

        subscribe()
        add_collector(WebhookCollector())
        checks.register(check_settings)
