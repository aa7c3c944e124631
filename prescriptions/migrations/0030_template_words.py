"""Gives templates the words by which a search finds them.

Safe: the table is unreleased; a column with a default of the model alone is filled while it is empty.
"""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("prescriptions", "0021_end_of_a_tenant"),
    ]

    operations = [
        migrations.AddField(
            model_name="prescriptiontemplate",
            name="words",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
        ),
    ]
