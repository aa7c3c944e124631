"""The released lots by their expiry date, for the sweep that looks again at their products."""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the index is made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0021_market_filled")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="lot",
            index=models.Index(
                condition=models.Q(("expiry_date__isnull", False), ("status", "released")),
                fields=["expiry_date", "tenant", "product"],
                name="suppliers_lot_expiring",
            ),
        ),
    ]
