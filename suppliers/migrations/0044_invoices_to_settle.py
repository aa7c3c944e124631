"""Lets staff find the invoices that do not match or are under query, over all tenants.

Safe: the migration is not atomic, so the index is made outside any transaction while writers go on.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the index is made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0043_reports")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name='invoice',
            index=models.Index(condition=models.Q(('status__in', ('mismatched', 'disputed'))), fields=['updated_at', 'id'], name='suppliers_invoice_to_settle'),
        ),
    ]
