"""Lets observations that are there be found by patient and code: what validations of prescriptions read.

Safe: it adds entries only, a thousand resources in a transaction, and may be run again. An observation that a process of the
version before writes later lacks its entry; `reindex_fhir` adds it.
"""

import json
from typing import ClassVar

from django.db import migrations

from fhir_api.indexing import index_by_patient_and_code
from fhir_api.resources.types import NUMBERS

NEXT = """
SELECT tenant_id, id, sort_date, body FROM fhir_api_resource
WHERE type = %s AND NOT deleted AND (tenant_id, id) > (%s, %s) ORDER BY tenant_id, id LIMIT 1000
"""
ADD = """
INSERT INTO fhir_api_posting (tenant_id, key, sort_date, resource_id)
SELECT * FROM unnest(%s::uuid[], %s::bigint[], %s::timestamptz[], %s::bigint[]) ON CONFLICT DO NOTHING
"""


def add_entries(apps, schema_editor):
    """Go through the observations of all tenants."""
    tenant_id, last = "00000000-0000-0000-0000-000000000000", 0
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(NEXT, [NUMBERS["Observation"], tenant_id, last])
            if not (rows := cursor.fetchall()):
                return
            found = [
                (tenant_id, key, sort_date, number)
                for tenant_id, number, sort_date, body in rows
                for key in index_by_patient_and_code(json.loads(body))
            ]
            if found:
                cursor.execute(ADD, [list(column) for column in zip(*found, strict=True)])
            tenant_id, last = rows[-1][:2]


class Migration(migrations.Migration):
    """Data only; backward there is nothing to do."""

    atomic = False

    dependencies: ClassVar = [("fhir_api", "0008_export_filters")]

    operations: ClassVar = [migrations.RunPython(add_entries, migrations.RunPython.noop)]
