"""What a supplier has settled about orders and reservations. Source: contract, supply-shelf.md "Supplier profile"."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from core.pipeline import Call, Rows, Statement
from core.trees import Tree

DEFAULTS: Final[Mapping[str, Any]] = {
    "auto_allocate": False,
    "max_soft_minutes": 60,
    "reservation_cap_percent": 50,
    "accept_within_hours": 48,
    "cancel_until": "shipped",
    "return_window_days": 30,
}
_ORGANIZATIONS: Final = Tree("organizations_organization", most=16)


def group_percent_sql(supplier: str, buyer: str) -> str:
    """Write the greatest share that a group of the buyer gives it, null where none has any; both ids are given as SQL."""
    above = _ORGANIZATIONS.above(f"n.id = (SELECT b.organization_id FROM organizations_tenant b WHERE b.id = {buyer})")
    return (
        "(SELECT max(g.reservation_cap_percent) FROM suppliers_buyergroupmember m"
        f" JOIN suppliers_buyergroup g ON g.tenant_id = {supplier} AND g.id = m.group_id"
        f" WHERE m.tenant_id = {supplier} AND m.member_id = ANY(ARRAY(SELECT {buyer}::uuid UNION ALL {above})))"
    )


class _Settled(NamedTuple):
    """What is stored, as JSON, and the greatest share that a group of the buyer gives it."""

    order_settings: str | None
    group_percent: int | None


_STORED = Statement.of(
    "SELECT (SELECT f.order_settings::text FROM suppliers_supplierprofile f WHERE f.tenant_id = $1) AS order_settings,"
    f" {group_percent_sql('$1', '$2')} AS group_percent",
    row=_Settled,
)


def settings_call(supplier_id: UUID, buyer_id: UUID) -> Call:
    """Return the statement that reads what a supplier has settled for a buyer; see `settings_of`.

    The transaction is bound to the supplier.
    """
    return Call(_STORED, [str(supplier_id), str(buyer_id)])


def settings_of(found: Rows) -> dict[str, Any]:
    """Return all settings: the stored ones, and the defaults of the others; a supplier need not have a profile.

    `reservation_cap_percent` is that of the buyer's groups, the greatest of them, where one of them has any.
    """
    (settled,) = found.of(_Settled)
    stored: dict[str, Any] = orjson.loads(settled.order_settings) if settled.order_settings else {}
    percent = cap_percent(stored.get("reservation_cap_percent"), settled.group_percent)
    return {**DEFAULTS, **stored, "reservation_cap_percent": percent}


def cap_percent(settled: int | None, of_group: int | None) -> int:
    """Return the share of a product's stock that a buyer may softly hold: its groups' greatest, else the supplier's, else the default."""
    found = of_group if of_group is not None else settled
    return int(DEFAULTS["reservation_cap_percent"] if found is None else found)
