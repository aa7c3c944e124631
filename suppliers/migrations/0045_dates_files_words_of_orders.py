"""The day on which what is backordered of a line is expected.

Safe: two nullable columns.
"""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Columns."""

    dependencies: ClassVar = [("suppliers", "0042_analytics")]

    operations: ClassVar = [
        migrations.AddField(model_name="purchaseorderline", name="backorder_date", field=models.DateField(null=True)),
        migrations.AddField(model_name="receivedorderline", name="backorder_date", field=models.DateField(null=True)),
    ]
