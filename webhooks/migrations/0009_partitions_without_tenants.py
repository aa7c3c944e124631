"""Partitions made later keep no statistics of the tenant either (docs/decisions/0057-plans-without-tenants.md)."""

from importlib import import_module
from typing import ClassVar

from django.db import migrations

_BEFORE = import_module("webhooks.migrations.0006_history_functions")
_QUIET = "EXECUTE format('ALTER TABLE %I ALTER tenant_id SET STATISTICS 0', {table});"


def _also(function, anchor, table):
    """The function with the statement after the one that ends with the anchor, and as it was."""
    changed = function.replace(anchor, f"{anchor}\n  {_QUIET.format(table=table)}", 1)
    assert changed != function
    return [text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1) for text in (changed, function)]


class Migration(migrations.Migration):
    """Two functions."""

    dependencies: ClassVar = [("webhooks", "0008_drop_own_history")]

    operations: ClassVar = [
        migrations.RunSQL(*_also(_BEFORE.SHELL, "INCLUDING STORAGE)', child, parent);", "child")),
        migrations.RunSQL(*_also(_BEFORE.ABSORB, "PARTITION OF %I DEFAULT', rest, parent);", "rest")),
    ]
