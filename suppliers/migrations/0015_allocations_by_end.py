"""Finds what levels are promised by its end. Safe: writers go on while the index is made anew."""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """The same index, with one column more."""

    atomic = False

    dependencies: ClassVar = [
        ("organizations", "0010_failures_by_network"),
        ("suppliers", "0014_files_on_the_market"),
    ]

    operations: ClassVar = [
        RemoveIndexConcurrently(model_name="allocation", name="suppliers_allocation_of_level"),
        AddIndexConcurrently(
            model_name="allocation",
            index=models.Index(
                condition=models.Q(("status", "active")),
                fields=["tenant", "level", "expires_at"],
                name="suppliers_allocation_of_level",
            ),
        ),
    ]
