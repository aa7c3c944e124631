"""The project as a Django app: builds row security in the database after every migration."""

from typing import Any

from django.apps import AppConfig, apps
from django.core import checks
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate


class ConfigConfig(AppConfig):
    name = "config"
    label = "config"

    def ready(self) -> None:
        from core.lanes import check_settings

        from .celery import app

        # The default of every thread; otherwise a thread would try for seconds to reach a broker on this machine.
        app.set_default()

        checks.register(check_settings)
        pre_migrate.connect(_create_functions, sender=apps.get_app_config("ledger"), dispatch_uid="config.functions")
        post_migrate.connect(_build_row_security, sender=apps.get_app_config("ledger"), dispatch_uid="config.walls")


def _create_functions(*, using: str, **_: Any) -> None:
    from core import row_security

    row_security.create_functions(connections[using])


def _build_row_security(*, using: str, **_: Any) -> None:
    from core import lanes, row_security, table_keys

    row_security.build(connections[using])
    table_keys.build(connections[using])
    lanes.build(connections[using])
