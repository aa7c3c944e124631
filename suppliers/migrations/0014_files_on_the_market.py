"""Which files the role of the market may read.

Safe: the table came with the migration before, and holds few rows when this one runs.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('suppliers', '0013_files'),
    ]

    operations = [
        migrations.AddField(
            model_name='file',
            name='on_market',
            field=models.GeneratedField(db_persist=True, expression=models.Q(('status', 'ready'), ('visibility', 'catalog')), output_field=models.BooleanField()),
        ),
    ]
