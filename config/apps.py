"""The project as a Django app: builds row security in the database after every migration."""

from typing import Any

from django.apps import AppConfig, apps
from django.db import connections
from django.db.models.signals import post_migrate


class ConfigConfig(AppConfig):
    name = "config"
    label = "config"

    def ready(self) -> None:
        from .celery import app

        # The default of every thread; otherwise a thread would try for seconds to reach a broker on this machine.
        app.set_default()

        post_migrate.connect(_build_row_security, sender=apps.get_app_config("ledger"), dispatch_uid="config.walls")


def _build_row_security(*, using: str, **_: Any) -> None:
    from core import row_security

    row_security.build(connections[using])
