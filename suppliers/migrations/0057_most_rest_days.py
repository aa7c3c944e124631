"""The least remaining shelf life of products and stock items is 100 years at most.

Safe: checks that are validated apart from their making, of what the API has refused before.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q

CHECKS = {"product": "suppliers_product_rest_days", "stockitem": "suppliers_stockitem_rest_days"}


class Migration(migrations.Migration):
    """Two checks."""

    dependencies: ClassVar = [("suppliers", "0056_places_of_notifications")]

    operations: ClassVar = [
        operation
        for model, name in CHECKS.items()
        for operation in (
            AddConstraintNotValid(
                model_name=model,
                constraint=models.CheckConstraint(
                    condition=Q(min_remaining_shelf_life_days__range=(0, 36_500)), name=name
                ),
            ),
            ValidateConstraint(model_name=model, name=name),
        )
    ]
