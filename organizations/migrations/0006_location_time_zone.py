"""Gives locations a time zone of their own.

Safe: a column with a default of the database; a process of the version before neither reads nor writes it.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column."""

    dependencies = [("organizations", "0005_client_keys")]

    operations = [
        migrations.AddField(
            model_name="location",
            name="time_zone",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Blank: the tenant's.", max_length=64
            ),
        ),
    ]
