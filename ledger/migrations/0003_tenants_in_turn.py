"""Lets the relay find each tenant's oldest row, so that tenants take turns.

Safe: the queue holds what was not handled yet, mostly nothing, so both indexes are small; writers wait for milliseconds.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One index for another."""

    dependencies = [("ledger", "0002_event_figures")]

    operations = [
        migrations.AddIndex(
            model_name="pending", index=models.Index(fields=["tenant_id", "due_at"], name="ledger_pending_next")
        ),
        migrations.RemoveIndex(model_name="pending", name="ledger_pending_due"),
    ]
