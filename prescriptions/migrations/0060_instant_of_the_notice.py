"""The instant from which the coming expiry of a prescription is told; open ones get it by their tenant's own policy.

Safe: the column is new and nullable, the replaced index is of an unreleased table, and few prescriptions are open.
"""

from django.db import migrations, models
from django.db.models import Q

FILL = """
UPDATE prescriptions_prescription p SET expiring_from = p.expires_at - make_interval(days => told.days)
FROM (SELECT n.id, coalesce((SELECT (c.policies ->> 'prescription_expiring_days')::int
                               FROM organizations_tenantconfiguration c WHERE c.tenant_id = n.id), 7) AS days
        FROM organizations_tenant n) told
WHERE told.id = p.tenant_id AND told.days > 0 AND p.status IN ('signed', 'routed') AND p.expired_at IS NULL
  AND p.expiring_at IS NULL
"""


class Migration(migrations.Migration):
    """A column with its index. Safe: see above."""

    dependencies = [("prescriptions", "0050_runs_end_with_their_tenant")]

    operations = [
        migrations.AddField("prescription", "expiring_from", models.DateTimeField(null=True)),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RemoveIndex("prescription", "prescriptions_rx_untold"),
        migrations.AddIndex(
            "prescription",
            models.Index(
                condition=Q(
                    ("status__in", ["signed", "routed"]),
                    ("expired_at__isnull", True),
                    ("expiring_at__isnull", True),
                    ("expiring_from__isnull", False),
                ),
                fields=["expiring_from", "tenant"],
                name="prescriptions_rx_untold",
            ),
        ),
    ]
