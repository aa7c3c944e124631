"""Makes room for the digest of a network in the key of a count of failures.

Safe: a longer limit of a text column is a change of the catalogue alone, also for a key. A process of the version before
goes on counting by account.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A longer column."""

    dependencies = [
        ('organizations', '0009_within_the_granters_own'),
    ]

    operations = [
        migrations.AlterField(
            model_name='signinfailure',
            name='subject',
            field=models.CharField(max_length=255, primary_key=True, serialize=False),
        ),
    ]
