"""Lots by their last day of use, for what is told of it, and by the supplier's lot that they come from, for recalls.

Safe: the migration is not atomic, so the indexes are made outside any transaction while writers go on.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the indexes are made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0008_serials_and_expiries")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name='lot',
            index=models.Index(fields=['tenant', 'expiry_date'], name='suppliers_lot_by_expiry'),
        ),
        AddIndexConcurrently(
            model_name='lot',
            index=models.Index(condition=models.Q(('origin_lot_id__isnull', False)), fields=['tenant', 'origin_lot_id'], name='suppliers_lot_by_origin'),
        ),
    ]
