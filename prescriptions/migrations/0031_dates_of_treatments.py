"""Gives recurring treatments the date that theirs are counted from, and the job its index.

Safe: the table is unreleased and empty.
"""

import datetime

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("prescriptions", "0030_template_words")]

    operations = [
        migrations.RemoveConstraint(model_name="recurringtreatment", name="prescriptions_recurring_what"),
        migrations.RemoveIndex(model_name="recurringtreatment", name="prescriptions_rec_due"),
        migrations.AddField(
            model_name="recurringtreatment",
            name="anchor_day",
            field=models.PositiveSmallIntegerField(default=1),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="recurringtreatment",
            name="base_date",
            field=models.DateField(default=datetime.date(2026, 1, 1)),
            preserve_default=False,
        ),
        migrations.AddIndex(
            model_name="recurringtreatment",
            index=models.Index(
                condition=Q(("drafts_from__isnull", False)),
                fields=["tenant", "id", "drafts_from"],
                name="prescriptions_rec_due",
            ),
        ),
        migrations.AddConstraint(
            model_name="recurringtreatment",
            constraint=models.CheckConstraint(
                condition=Q(
                    Q(("items__isnull", True), ("template_id__isnull", False)),
                    Q(("items__isnull", False), ("template_id__isnull", True)),
                    _connector="OR",
                ),
                name="prescriptions_recurring_what",
            ),
        ),
    ]
