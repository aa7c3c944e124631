from django.db import migrations, models


class Migration(migrations.Migration):
    """Figures of events; null where a type has none, so that no row is rewritten."""

    dependencies = [("ledger", "0001_initial")]

    operations = [
        migrations.AddField(model_name="event", name="figures", field=models.JSONField(null=True)),
    ]
