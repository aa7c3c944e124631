"""How suppliers have delivered is kept in their profiles.

Safe: columns that may be NULL or have a default, and a check that is validated apart from its making. Until the task that rates
suppliers has run, they read as not rated, as in the release before; that release writes none of these columns.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models
from django.db.models import Q

NAME = "suppliers_supplierprofile_rates"


class Migration(migrations.Migration):
    """Five columns, and what holds of them."""

    dependencies: ClassVar = [("suppliers", "0052_listed_buyers")]

    operations: ClassVar = [
        *(
            migrations.AddField(
                model_name="supplierprofile",
                name=name,
                field=models.DecimalField(decimal_places=4, max_digits=5, null=True),
            )
            for name in ("on_time_rate", "fill_rate", "quality_rate")
        ),
        migrations.AddField(
            model_name="supplierprofile",
            name="orders_counted",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(model_name="supplierprofile", name="rated_until", field=models.DateField(null=True)),
        AddConstraintNotValid(
            model_name="supplierprofile",
            constraint=models.CheckConstraint(
                condition=Q(on_time_rate__range=(0, 1)) & Q(fill_rate__range=(0, 1)) & Q(quality_rate__range=(0, 1)),
                name=NAME,
            ),
        ),
        ValidateConstraint(model_name="supplierprofile", name=NAME),
    ]
