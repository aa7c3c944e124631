"""Released lots by their expiry date, for a sweep, and GTINs of all suppliers, for the staff who compare catalogs.

Safe: each index is made outside a transaction, while writers go on.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the indexes are made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0011_market_filled")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="lot",
            index=models.Index(
                condition=models.Q(("expiry_date__isnull", False), ("status", "released")),
                fields=["expiry_date", "tenant", "product"],
                name="suppliers_lot_expiring",
            ),
        ),
        AddIndexConcurrently(
            model_name="packaging",
            index=models.Index(
                condition=models.Q(("gtin__isnull", False), ("state", "current")),
                fields=["gtin", "tenant"],
                name="suppliers_packaging_by_gtin",
            ),
        ),
    ]
