"""Counts the movements of each hour of a day beside those of the day.

Safe: a constant default writes no row anew, and the check holds for it. The release before counts no hours: of its days the hours
do not add up, and lists find their rows by day as before.
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models

NAME = "suppliers_movecounter_hours"


class Migration(migrations.Migration):
    """One column, and how long it is."""

    dependencies: ClassVar = [("suppliers", "0057_most_rest_days")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="movementcounter",
            name="hours",
            field=ArrayField(base_field=models.IntegerField(), db_default=[0] * 24, size=None),
        ),
        AddConstraintNotValid(
            model_name="movementcounter",
            constraint=models.CheckConstraint(condition=models.Q(("hours__len", 24)), name=NAME),
        ),
        ValidateConstraint(model_name="movementcounter", name=NAME),
    ]
