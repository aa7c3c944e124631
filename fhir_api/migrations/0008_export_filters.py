"""Notes of an export what narrows it: filters, elements, patients, a group.

Safe: the new columns have constant defaults; the table holds the exports of thirty days, so the constraint is checked at once.
"""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds columns with constant defaults, which rewrites nothing, and lets the level be `group`."""

    dependencies = [("fhir_api", "0007_further_types")]

    operations = [
        migrations.AddField(
            model_name="exportjob",
            name="filters",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), db_default=[], default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="exportjob",
            name="searchable",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=24), null=True, size=None
            ),
        ),
        migrations.AddField(
            model_name="exportjob",
            name="elements",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=100), db_default=[], default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="exportjob",
            name="patients",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=64), null=True, size=None
            ),
        ),
        migrations.AddField(
            model_name="exportjob",
            name="group_id",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.RemoveConstraint(model_name="exportjob", name="fhir_api_export_level_known"),
        migrations.AddConstraint(
            model_name="exportjob",
            constraint=models.CheckConstraint(
                condition=models.Q(level__in=("system", "patient", "group")), name="fhir_api_export_level_known"
            ),
        ),
    ]
