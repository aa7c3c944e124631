"""Lets the fan-out find each tenant's oldest event, so that tenants take turns.

Safe: the queue holds events of the last second, mostly none, so the index is small; writers wait for milliseconds.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One index."""

    dependencies = [("webhooks", "0012_subscriptions")]

    operations = [
        migrations.AddIndex(
            model_name="newevent",
            index=models.Index(fields=["tenant_id", "created_at", "id"], name="webhooks_event_new_oldest"),
        ),
    ]
