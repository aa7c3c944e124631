"""Rows of tables as tests load them."""

import io
from typing import Any

from core.clock import now
from organizations.models import Tenant
from prescriptions.medications.csv_files import rows_of
from prescriptions.medications.loading import Load, Target, load
from prescriptions.medications.tables import TABLES

RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
SNOMED = "http://snomed.info/sct"


def csv_of(table: str, *rows: dict[str, Any]) -> str:
    """Return the text of a file with these rows; cells that a row lacks are empty."""
    names = [*TABLES[table].columns]
    lines = [",".join(names), *(",".join(f'"{row.get(name, "")}"' for name in names) for row in rows)]
    return "\n".join(lines) + "\n"


def load_rows(tenant: Tenant | None, table: str, *rows: dict[str, Any], dry_run: bool = False) -> Load:
    """Load rows as the whole table of a tenant, as its command does."""
    found = rows_of(TABLES[table], io.StringIO(csv_of(table, *rows)))
    return load(
        TABLES[table], found, Target(tenant.id if tenant else None), source="rows of a test", at=now(), dry_run=dry_run
    )


def medication(**values: Any) -> dict[str, Any]:
    """Return a row of the table of medications."""
    return {
        "system": "rxnorm",
        "code": "855332",
        "display": "Warfarin Sodium 5 MG Oral Tablet",
        "ingredients": "warfarin",
        "classes": "anticoagulants",
        "form": "oral tablet",
        "strength": "5",
        "unit": "mg",
        "schedule": "none",
    } | values
