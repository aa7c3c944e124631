"""The place of the prescription in its requests, by which reads are limited. Safe: the table is unreleased."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("prescriptions", "0040_sweep_expiry")]

    operations = [
        migrations.AddField(model_name="prescriptionrequest", name="location_id", field=models.UUIDField(null=True)),
    ]
