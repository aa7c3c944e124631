"""The place of a notification, and which notifications a member who is limited to places reads.

Orders move: what is about them has the place of the tenant's own order of today. Any other notification keeps the place that
it was told of. Source: contract, supply.md 3.5.
"""

from typing import Final

from core.conditions import TENANT, Condition
from core.db import BOUND_LOCATIONS
from organizations.public import reach

_REACH: Final = reach("location_id", below=True)


def place_sql(row: str) -> str:
    """Write the SQL of the place of the notification whose alias is given; NULL for none."""
    key = f"CASE WHEN {row}.resource_type IN ('order', 'purchase_order') THEN {row}.resource_id::uuid END"
    order = (
        f"SELECT p.delivery_location_id FROM suppliers_purchaseorder p WHERE p.tenant_id = {TENANT} AND p.id = {key}"
    )
    return f"coalesce(({order}), {row}.location_id)"


def within(row: str) -> Condition:
    """Return the condition that the bound member reaches the notification whose alias is given; it is never NULL.

    One without a place is for every member; an order of the tenant's own always has one.
    """
    is_for_all = f"{row}.location_id IS NULL AND {BOUND_LOCATIONS} IS NOT NULL"
    return Condition(f"({is_for_all} OR {_REACH.at(place_sql(row)).sql})")


WHOLE: Final = _REACH.whole  # SQL that tells whether the member reaches every place
WITHIN: Final = within("t")
