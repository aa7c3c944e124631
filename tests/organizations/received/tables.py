"""The parcels as an app with tables of its own, for as long as their tests run."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.apps import AppConfig, apps
from django.db import connections

from core import lifecycle, row_security, table_keys
from organizations.received import kinds
from tests.organizations.received.parcels import (
    LABEL,
    PARCELS,
    Parcel,
    ParcelLine,
    ReceivedParcel,
    ReceivedParcelLine,
    know_parcels,
)


class ParcelsConfig(AppConfig):
    name = "tests.organizations.received"
    label = LABEL
    path = "tests/organizations/received"


MODELS = (Parcel, ParcelLine, ReceivedParcel, ReceivedParcelLine)


def know_models() -> None:
    """Make the models part of Django's apps, as an entry of INSTALLED_APPS would."""
    import tests.organizations.received as package

    config = ParcelsConfig(ParcelsConfig.name, package)
    config.apps, config.models = apps, apps.all_models[LABEL]
    apps.app_configs[LABEL] = config
    apps.clear_cache()
    know_parcels()


@contextmanager
def tables() -> Iterator[None]:
    """Create the tables with their walls, as a migration does, and drop them at the end."""
    know_models()
    owner = connections["owner"]
    with owner.schema_editor() as editor:
        for model in MODELS:
            editor.create_model(model)
    row_security.build(owner)
    table_keys.build(owner)
    lifecycle.build_guards(owner)
    try:
        yield
    finally:
        with owner.cursor() as cursor:
            cursor.execute(f"DROP TABLE {', '.join(model._meta.db_table for model in MODELS)} CASCADE")
        del kinds._kinds[PARCELS]  # the proof of all invariants in other tests reads no table that is gone
        del apps.app_configs[LABEL]
        apps.clear_cache()
