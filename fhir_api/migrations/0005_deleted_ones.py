"""Deleted resources by name: few, and asked for by the history of one patient's compartment."""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """Writers go on while the index is made."""

    atomic = False

    dependencies: ClassVar = [("fhir_api", "0004_exports")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="resource",
            index=models.Index(
                condition=models.Q(("deleted", True)),
                fields=["tenant_id", "type", "fhir_id"],
                name="fhir_api_resource_gone",
            ),
        ),
    ]
