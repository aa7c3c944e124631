"""What is on the market of one supplier, in the order of the buyer's catalog.

Safe: the migration is not atomic, so the index is made outside any transaction while writers go on.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the index is made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0034_changes_of_orders")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="product",
            index=models.Index(
                condition=models.Q(("on_market", True)),
                fields=["tenant", "created_at", "id"],
                name="suppliers_market_of_supplier",
            ),
        ),
    ]
