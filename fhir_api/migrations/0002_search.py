"""Statistics that know the frequent keys, and vacuum soon enough for index-only scans."""

from typing import ClassVar

from django.db import migrations

_TABLES = ("resource", "posting", "dateentry", "stringentry", "quantityentry", "positionentry")

# Custom plans choose where to begin by the frequency of a key, so its statistics are kept finer and fresher than usual.
_STATISTICS = [
    (
        f"ALTER TABLE fhir_api_{name} ALTER key SET STATISTICS 2000",
        f"ALTER TABLE fhir_api_{name} ALTER key SET STATISTICS -1",
    )
    for name in ("posting", "dateentry", "stringentry", "quantityentry")
]
_UPKEEP = [
    (
        f"ALTER TABLE fhir_api_{name} SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,"
        " autovacuum_vacuum_insert_scale_factor = 0.02)",
        f"ALTER TABLE fhir_api_{name} RESET (autovacuum_vacuum_scale_factor, autovacuum_analyze_scale_factor,"
        " autovacuum_vacuum_insert_scale_factor)",
    )
    for name in _TABLES
]


class Migration(migrations.Migration):
    """Nothing of the data is touched."""

    dependencies: ClassVar = [("fhir_api", "0001_clinical_record")]

    operations: ClassVar = [
        *(migrations.RunSQL(forward, backward) for forward, backward in (*_STATISTICS, *_UPKEEP)),
    ]
