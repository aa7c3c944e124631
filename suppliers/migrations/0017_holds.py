"""Holds of staff on products and offers; what the market's role reads of groups; names of suppliers as they are searched.

Safe: the columns of holds are nullable or have a constant default, and their checks hold for new rows at once, the next
migration looks at those that there are. The generated columns rewrite the tables of profiles and of members of groups once: a
row for each supplier, and at most 1,100 for each group.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models.expressions import RawSQL
from django.db.models.functions import Lower

WORDS = (
    "' ' || regexp_replace(regexp_replace(replace(normalize(lower(legal_name || ' ' || trade_name || ' ' ||"
    " jsonb_path_query_array(registrations, '$[*].value')::text), NFKD), 'ß', 'ss'), '[\\u0300-\\u036f]', '', 'g'),"
    " '[^[:alnum:]]+', ' ', 'g')"
)


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


def generated(expression, output):
    """A stored column that PostgreSQL writes."""
    return models.GeneratedField(db_persist=True, expression=expression, output_field=output)


class Migration(migrations.Migration):
    """Columns and checks."""

    dependencies: ClassVar = [("suppliers", "0016_movement_counters")]

    operations: ClassVar = [
        *columns("offer"),
        *columns("product"),
        off_market("offer", "published"),
        off_market("product", "active"),
        migrations.AddField(
            model_name="buyergroupmember",
            name="is_organization",
            field=generated(models.Q(("kind", "organization")), models.BooleanField()),
        ),
        migrations.AddField(
            model_name="supplierprofile",
            name="name_sort",
            field=generated(Lower("legal_name"), models.TextField(db_collation="C")),
        ),
        migrations.AddField(
            model_name="supplierprofile",
            name="words",
            field=generated(RawSQL(WORDS, []), models.TextField()),  # nosec B611 - a constant
        ),
    ]
