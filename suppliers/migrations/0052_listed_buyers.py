"""Buyers of a recall are listed behind the request that issues it.

Safe: a column that may be NULL, and a check that is validated apart from its making. NULL says that the buyers are listed, which
is so for the recalls that are there, and for those that the release before issues meanwhile. The check keeps a walk of that
release from ending a recall whose buyers are not listed: it fails, and one of this release goes on.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q

NAME = "suppliers_recall_walked_listed"


class Migration(migrations.Migration):
    """A column, and what holds of it."""

    dependencies: ClassVar = [("suppliers", "0051_medians_of_days")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="recall", name="buyers_to_list", field=models.PositiveIntegerField(null=True)
        ),
        AddConstraintNotValid(
            model_name="recall",
            constraint=models.CheckConstraint(
                condition=Q(is_walked=False) | Q(buyers_to_list__isnull=True), name=NAME
            ),
        ),
        ValidateConstraint(model_name="recall", name=NAME),
    ]
