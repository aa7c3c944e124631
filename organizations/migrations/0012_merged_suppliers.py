"""Which supplier on the platform has taken over the documents of a managed one.

Safe: the column is empty for every tenant that there is, and the table has some thousands of rows. The release before neither
reads nor writes it.
"""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """A column and its constraint."""

    dependencies: ClassVar = [("organizations", "0011_managed_tenants")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="tenant",
            name="merged_into",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="The supplier on the platform that has taken over the documents of this managed one.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="organizations.tenant",
            ),
        ),
        migrations.AddConstraint(
            model_name="tenant",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("merged_into__isnull", True),
                    models.Q(
                        ("managed_by__isnull", False),
                        ("status", "closed"),
                        models.Q(("merged_into", models.F("id")), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="organizations_tenant_merged_is_closed",
            ),
        ),
    ]
