"""An index for telling once which prescriptions will expire soon. Safe: the table is unreleased."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("prescriptions", "0030_template_words")]

    operations = [
        migrations.AddIndex(
            model_name="prescription",
            index=models.Index(
                condition=Q(("status__in", ["signed", "routed"]), ("expired_at__isnull", True), ("expiring_at__isnull", True)),
                fields=["tenant", "expires_at"],
                name="prescriptions_rx_untold",
            ),
        ),
    ]
