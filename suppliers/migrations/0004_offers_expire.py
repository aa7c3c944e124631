"""The offers that name their last day, for the sweep that ends them."""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the index is made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0003_movements")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="offer",
            index=models.Index(
                condition=models.Q(("status__in", ("published", "paused")), ("valid_to__isnull", False)),
                fields=["valid_to", "tenant"],
                name="suppliers_offer_ending",
            ),
        ),
    ]
