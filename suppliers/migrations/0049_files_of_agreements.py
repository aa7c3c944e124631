"""Files of price agreements.

Safe: two columns with a constant default, a longer text, and a check that is validated apart from its making. Copies of suppliers
get the member too; the release before goes on, and what copies it writes meanwhile lack the member until the next change.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models

TYPES = [
    ("product", "Product"),
    ("offer", "Offer"),
    ("order", "Order"),
    ("delivery", "Delivery"),
    ("invoice", "Invoice"),
    ("return", "Return"),
    ("supplier", "Supplier"),
    ("message", "Message"),
    ("agreement", "Agreement"),
]
KNOWN = "suppliers_file_bound_to_known"
FILL = """
UPDATE suppliers_receivedagreement SET representation = representation || '{"files": []}' WHERE NOT representation ? 'files'
"""


class Migration(migrations.Migration):
    """Columns, the type of a binding, and the member of the copies."""

    dependencies: ClassVar = [("suppliers", "0048_lines_due_by_days")]

    operations: ClassVar = [
        *(
            migrations.AddField(model_name=name, name="files", field=models.JSONField(db_default=[], default=list))
            for name in ("agreementdraft", "priceagreement")
        ),
        migrations.AlterField(
            model_name="filebinding", name="resource_type", field=models.CharField(choices=TYPES, max_length=9)
        ),
        migrations.RemoveConstraint(model_name="filebinding", name=KNOWN),
        AddConstraintNotValid(
            model_name="filebinding",
            constraint=models.CheckConstraint(
                condition=models.Q(resource_type__in=[name for name, _ in TYPES]), name=KNOWN
            ),
        ),
        ValidateConstraint(model_name="filebinding", name=KNOWN),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
