"""What was received above what was shipped, where the buyer's policy admits it.

Safe: a column with a default of the database rewrites no row; the table of order lines has few rows before its first release.
"""

from typing import ClassVar

from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    """The counters of order lines are checked with what was received beyond the shipment."""

    dependencies: ClassVar = [("suppliers", "0031_answers_to_orders"), ("suppliers", "0032_deliveries")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="purchaseorderline",
            name="over_received",
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.RemoveConstraint(model_name="purchaseorderline", name="suppliers_orderline_counters"),
        migrations.AddConstraint(
            model_name="purchaseorderline",
            constraint=models.CheckConstraint(
                condition=Q(
                    ordered__gte=F("accepted") + F("backordered") + F("cancelled"),
                    shipped__lte=F("accepted") + F("tolerance") + F("rejected") + F("short"),
                    received__lte=F("shipped") + F("over_received"),
                    returned__lte=F("received"),
                ),
                name="suppliers_orderline_counters",
            ),
        ),
    ]
