"""What an order's limits count no more, when both were told that it is overdue, and the reservations of a line.

Safe: columns with defaults of the database rewrite no row; the indexes are made outside any transaction while writers go on.
"""

from decimal import Decimal
from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the indexes are made."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0030_orders")]

    operations: ClassVar = [
        migrations.AddField(
            model_name='purchaseorder',
            name='given_back',
            field=models.DecimalField(db_default=Decimal(0), decimal_places=4, default=Decimal(0), max_digits=19),
        ),
        migrations.AddField(
            model_name='purchaseorder',
            name='overdue_told_at',
            field=models.DateTimeField(null=True),
        ),
        AddIndexConcurrently(
            model_name='reservation',
            index=models.Index(condition=models.Q(('purchase_order_line_id__isnull', False)), fields=['tenant', 'purchase_order_line_id'], name='suppliers_reservation_line'),
        ),
        AddIndexConcurrently(
            model_name='purchaseorder',
            index=models.Index(condition=models.Q(('overdue_told_at__isnull', True), ('status__in', ('sent', 'change_proposed'))), fields=['accept_by', 'tenant'], name='suppliers_po_overdue'),
        ),
    ]
