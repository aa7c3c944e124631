"""Which members of groups the role of the market may read.

Safe: the table is rewritten once; it has at most 1,100 rows for each group, and suppliers write it by their profile alone.
"""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """One generated column."""

    dependencies: ClassVar = [("suppliers", "0018_holds_checked")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="buyergroupmember",
            name="is_organization",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Q(("kind", "organization")),
                output_field=models.BooleanField(),
            ),
        ),
    ]
