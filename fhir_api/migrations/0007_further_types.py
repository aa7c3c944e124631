"""Let the registry alone say which types there are, so that a further type needs no migration.

Safe: each step is a transaction of its own; the one that reads the table holds up no writer, and every row passes, since
the constraint that it replaces is stricter.
"""

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    """Replaces the list of types in a constraint by what holds of all of them."""

    atomic = False

    dependencies = [("fhir_api", "0006_value_sets")]

    operations = [
        migrations.RemoveConstraint(model_name="resource", name="fhir_api_resource_type_known"),
        AddConstraintNotValid(
            model_name="resource",
            constraint=models.CheckConstraint(condition=models.Q(type__gte=1), name="fhir_api_resource_type_known"),
        ),
        ValidateConstraint(model_name="resource", name="fhir_api_resource_type_known"),
    ]
