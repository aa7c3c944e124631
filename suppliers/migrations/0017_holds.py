"""Holds of the platform's staff on products and offers.

Safe: the columns are nullable or have a constant default; the checks hold for new rows at once, and the next migration
looks at those that there are.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


def columns(model):
    """Since when a row is held, and why."""
    reason = models.CharField(blank=True, db_default="", default="", max_length=500)
    return [
        migrations.AddField(model_name=model, name="held_at", field=models.DateTimeField(null=True)),
        migrations.AddField(model_name=model, name="hold_reason", field=reason),
    ]


def off_market(model, status):
    """What is held does not have the status in which it would be on the market."""
    condition = models.Q(("held_at__isnull", True), models.Q(("status", status), _negated=True), _connector="OR")
    name = f"suppliers_{model}_held_off_market"
    return AddConstraintNotValid(
        model_name=model, constraint=models.CheckConstraint(condition=condition, name=name)
    )


class Migration(migrations.Migration):
    """Columns and checks."""

    dependencies: ClassVar = [("suppliers", "0016_movement_counters")]

    operations: ClassVar = [
        *columns("offer"),
        *columns("product"),
        off_market("offer", "published"),
        off_market("product", "active"),
    ]
