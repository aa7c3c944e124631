"""The composition root as a Django app: it builds the database's walls after every migration."""

from typing import Any

from django.apps import AppConfig, apps
from django.db import connections
from django.db.models.signals import post_migrate


class ConfigConfig(AppConfig):
    name = "config"
    label = "config"

    def ready(self) -> None:
        from .celery import app

        app.set_default()  # for every thread: without it a doorbell would look for a broker on this machine, for seconds

        post_migrate.connect(_build_walls, sender=apps.get_app_config("ledger"), dispatch_uid="config.walls")


def _build_walls(*, using: str, **_: Any) -> None:
    from core import row_security

    row_security.build(connections[using])
