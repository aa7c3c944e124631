"""Finds the products of a supplier by how long their goods must still last to be sold.

Safe: the migration is not atomic, so the index is made outside any transaction while writers go on.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Writers go on while the index is made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0053_ratings")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="product",
            index=models.Index(
                fields=["tenant", "min_remaining_shelf_life_days"],
                condition=Q(min_remaining_shelf_life_days__gt=0),
                name="suppliers_product_least_rest",
            ),
        ),
    ]
