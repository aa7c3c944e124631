"""Notifications of a supplier about its deliveries have the place from which they were shipped.

Safe: rows of suppliers alone, each written once; the release before goes on, and what it writes meanwhile lacks the place.
"""

from typing import ClassVar

from django.db import migrations

FILL = """
UPDATE suppliers_notification n SET location_id = p.from_location_id, version = n.version + 1, updated_at = now()
FROM suppliers_shipmentprivate p
WHERE p.tenant_id = n.tenant_id AND p.id::text = n.resource_id AND n.resource_type = 'delivery' AND n.location_id IS NULL
"""


class Migration(migrations.Migration):
    """Only rows."""

    dependencies: ClassVar = [("suppliers", "0055_lots_without_origin")]

    operations: ClassVar = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
