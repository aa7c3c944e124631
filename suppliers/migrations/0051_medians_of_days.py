"""Medians of acceptance by days.

Safe: new tables only. They are filled by the task that sums up roll-ups, batch by batch; until it has come to a day, its median is
found out of the rows as before. A release that does not know them writes roll-ups that this task finds as well.
"""

from typing import ClassVar

from django.db import migrations, models

import core.ids


class Migration(migrations.Migration):
    """Two tables."""

    dependencies: ClassVar = [("suppliers", "0050_merged_suppliers")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="AcceptanceDay",
            fields=[
                ("id", models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("tenant_id", models.UUIDField()),
                ("slot", models.SmallIntegerField()),
                ("start", models.DateTimeField()),
                ("currency", models.CharField(blank=True, max_length=3)),
                ("orders", models.BigIntegerField()),
                ("spent", models.BigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant_id", "slot", "start"], name="suppliers_acceptanceday_by_day"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("slot__range", (0, 95))), name="suppliers_acceptanceday_slot"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AcceptanceMark",
            fields=[
                ("id", models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("tenant_id", models.UUIDField()),
                ("after_id", models.UUIDField()),
                ("upto_id", models.UUIDField()),
                ("rows", models.BigIntegerField()),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant_id", "after_id"), name="suppliers_acceptancemark_follows_once"
                    ),
                    models.UniqueConstraint(fields=("tenant_id", "upto_id"), name="suppliers_acceptancemark_ends_once"),
                    models.CheckConstraint(
                        condition=models.Q(("upto_id__gt", models.F("after_id"))),
                        name="suppliers_acceptancemark_goes_on",
                    ),
                ],
            },
        ),
    ]
