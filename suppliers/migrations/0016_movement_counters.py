"""Counts the movements of each tenant by day.

Safe: the table is new, and no movement is written while those that there are are counted. A process of the release before
writes movements that are not counted: end its writers before, or migrate again backward and forward once it has ended.
"""

from typing import ClassVar

from django.db import migrations, models

FILL = [
    "LOCK TABLE suppliers_stockmovement IN SHARE MODE",
    "INSERT INTO suppliers_movementcounter (tenant_id, day, stripe, movements)"
    " SELECT tenant_id, (created_at AT TIME ZONE 'UTC')::date, 0, count(*) FROM suppliers_stockmovement GROUP BY 1, 2",
]


class Migration(migrations.Migration):
    """One table, filled."""

    dependencies: ClassVar = [("suppliers", "0015_allocations_by_end")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="MovementCounter",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id", "day", "stripe", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant_id", models.UUIDField()),
                ("day", models.DateField()),
                ("stripe", models.SmallIntegerField()),
                ("movements", models.PositiveBigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("stripe__gt", 0)),
                        fields=["day", "tenant_id"],
                        name="suppliers_movecounter_striped",
                    )
                ]
            },
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
