"""What lines due come to by their date and by when it ends, filled from the sums that there are.

Safe: a new table. Nothing is summed up while it is filled, and metrics go on; that takes about as long as to write 53 rows for
each date on which lines are due.
"""

from typing import ClassVar

from django.db import migrations, models

import core.ids

FILL = [
    "LOCK TABLE suppliers_rollupmark IN SHARE MODE",
    "INSERT INTO suppliers_dueday (id, tenant_id, slot, due_date, currency, entries, in_time, quantity, base)"
    " SELECT uuidv7(), z.* FROM (SELECT f.tenant_id, g.slot, (f.start AT TIME ZONE 'UTC')::date AS due_date, f.currency,"
    " sum(f.entries) AS entries, coalesce(sum(f.entries) FILTER (WHERE"
    " f.whole_at < f.start + interval '1 day' + g.slot * interval '30 minutes'), 0) AS in_time,"
    " sum(f.quantity) AS quantity, sum(f.base) AS base"
    " FROM suppliers_rollupsum f CROSS JOIN generate_series(-28, 24) AS g(slot)"
    " WHERE f.kind = 'due' AND f.grouping = '' AND f.span = 'day' GROUP BY 1, 2, 3, 4) z"
    " WHERE z.entries <> 0 OR z.in_time <> 0 OR z.quantity <> 0 OR z.base <> 0 ORDER BY 2, 3, 4, 5",
]


class Migration(migrations.Migration):
    """One table, filled."""

    dependencies: ClassVar = [("suppliers", "0047_form_of_marks")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="DueDay",
            fields=[
                ("id", models.UUIDField(default=core.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("tenant_id", models.UUIDField()),
                ("slot", models.SmallIntegerField()),
                ("due_date", models.DateField()),
                ("currency", models.CharField(max_length=3)),
                ("entries", models.BigIntegerField()),
                ("in_time", models.BigIntegerField()),
                ("quantity", models.BigIntegerField()),
                ("base", models.BigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant_id", "slot", "due_date"], name="suppliers_dueday_by_date"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("slot__range", (-28, 24))), name="suppliers_dueday_slot"
                    ),
                ],
            },
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
