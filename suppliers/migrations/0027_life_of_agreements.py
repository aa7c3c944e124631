"""When agreements are due for the sweep, and the organization of a supplier's copy, by which its audience follows.

Safe: the tables are new in this release, and empty.
"""

from django.db import migrations, models
from django.db.models.expressions import RawSQL

_ACCEPTED = ("status__in", ("active", "suspended"))
_DUE_ON = (
    "CASE WHEN expiring_at IS NULL AND terminates_on IS NULL THEN valid_to - 30 ELSE least(valid_to, terminates_on) END"
)


class Migration(migrations.Migration):
    dependencies = [("organizations", "0011_managed_tenants"), ("suppliers", "0026_promotions")]

    operations = [
        migrations.RemoveIndex(model_name="priceagreement", name="suppliers_agreement_ending"),
        migrations.AddField("priceagreement", "expiring_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "priceagreement",
            "due_on",
            models.GeneratedField(
                db_persist=True, expression=RawSQL(_DUE_ON, []),  # nosec B611 - a constant
                output_field=models.DateField()
            ),
        ),
        migrations.AddField(
            "receivedagreement",
            "scope_id",
            models.UUIDField(default="00000000-0000-0000-0000-000000000000"),
            preserve_default=False,
        ),
        migrations.AddIndex(
            "priceagreement",
            models.Index(condition=models.Q(_ACCEPTED), fields=["due_on", "tenant"], name="suppliers_agreement_due"),
        ),
        migrations.AddIndex(
            "receivedagreement",
            models.Index(
                condition=models.Q(("scope", "organization"), _ACCEPTED), fields=["scope_id"], name="suppliers_recagree_of_org"
            ),
        ),
    ]
