"""Finds the lots of a product and number that name no origin, for recalls.

Safe: the migration is not atomic, so the index is made outside any transaction while writers go on.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Writers go on while the index is made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0054_least_rest_of_products")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="lot",
            index=models.Index(
                fields=["product", "lot_number"],
                condition=Q(origin_lot_id__isnull=True),
                name="suppliers_lot_by_name",
            ),
        ),
    ]
