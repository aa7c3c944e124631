"""Who reads the file of a report: whoever holds the read scope of its data, and sees the locations that it tells of.

Reports belong to the room of analytics, so their table is named in SQL alone.
"""

from typing import Final

from core.conditions import TENANT
from core.db import BOUND_LOCATIONS

# The read scope of the data of each type of report.
SCOPES: Final = {
    "orders": "orders:read",
    "stock": "inventory:read",
    "movements": "inventory:read",
    "prices": "pricing:read",
    "recall_trace": "inventory:read",
}
# What lies at a location: a membership that is limited to locations gets and sees what lies at these alone.
AT_LOCATIONS: Final = ("stock", "movements")
NOBODY: Final = "-"

# Of a report under an alias; where nothing is bound nobody sees any.
REACHED: Final = (
    f"({BOUND_LOCATIONS} IS NOT NULL AND (cardinality({BOUND_LOCATIONS}) = 0"
    f" OR {{0}}.type NOT IN ({', '.join(map(repr, AT_LOCATIONS))})"
    f" OR cardinality({{0}}.location_ids) > 0 AND {{0}}.location_ids <@ {BOUND_LOCATIONS}::uuid[])) IS TRUE"
)
_SCOPE: Final = " ".join(f"WHEN '{name}' THEN '{scope}'" for name, scope in SCOPES.items())
# The scope that the content of a file `t` needs, null where it is the file of no report. Of several reports with the same
# content one that is in reach decides.
NEEDED: Final = (
    "CASE WHEN t.purpose = 'report' THEN"
    f" (SELECT CASE WHEN {REACHED.format('r')} THEN CASE r.type {_SCOPE} END ELSE '{NOBODY}' END"
    f" FROM suppliers_report r WHERE r.tenant_id = {TENANT} AND r.file_id = t.id"
    f" ORDER BY {REACHED.format('r')} DESC, r.id LIMIT 1) END"
)
