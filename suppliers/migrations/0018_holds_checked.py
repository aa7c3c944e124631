"""Validates the checks of holds, and finds held offers by their packaging.

Safe: writers go on while the rows are looked at and the index is made.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0017_holds")]

    operations: ClassVar = [
        ValidateConstraint(model_name="offer", name="suppliers_offer_held_off_market"),
        ValidateConstraint(model_name="product", name="suppliers_product_held_off_market"),
        AddIndexConcurrently(
            model_name="offer",
            index=models.Index(
                condition=models.Q(("held_at__isnull", False)),
                fields=["tenant", "packaging"],
                name="suppliers_offer_held",
            ),
        ),
    ]
