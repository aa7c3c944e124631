"""The indexes of the sweep, in the order in which it goes through what is due. Safe: the table is unreleased."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("prescriptions", "0061_indexes_of_filters")]

    operations = [
        migrations.RemoveIndex(model_name="prescription", name="prescriptions_rx_expiring"),
        migrations.AddIndex(
            model_name="prescription",
            index=models.Index(
                condition=Q(("status__in", ["signed", "routed"]), ("expired_at__isnull", True)),
                fields=["expires_at", "tenant", "id"],
                name="prescriptions_rx_due",
            ),
        ),
        migrations.RemoveIndex(model_name="prescription", name="prescriptions_rx_untold"),
        migrations.AddIndex(
            model_name="prescription",
            index=models.Index(
                condition=Q(
                    ("status__in", ["signed", "routed"]),
                    ("expired_at__isnull", True),
                    ("expiring_at__isnull", True),
                    ("expiring_from__isnull", False),
                ),
                fields=["expiring_from", "tenant", "id"],
                name="prescriptions_rx_untold",
            ),
        ),
    ]
