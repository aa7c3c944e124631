"""Stock locations: a new place that keeps stock, or stock kept at a place that exists."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run
from organizations import public as organizations
from suppliers.catalog import availability

from .models import StockPlace

_QUARANTINE = "quarantine"
_BATCH = 1_000
# Whether goods of a place may be sold stands with their levels; the sweep tells of them.
_MARK_LEVELS = Statement.of(
    "UPDATE suppliers_stocklevel v SET is_untold = true, version = v.version + 1, updated_at = $3 WHERE v.tenant_id = $1"
    " AND v.id IN (SELECT w.id FROM suppliers_stocklevel w WHERE w.tenant_id = $1 AND w.location_id = $2 AND w.on_hand > 0"
    " ORDER BY w.id FOR NO KEY UPDATE) RETURNING v.product_id::text"
)


@needs_transaction
def put_stock_location(actor: Actor, data: Mapping[str, Any], at: datetime) -> tuple[StockPlace, bool]:
    """Make or replace a stock location; tell whether the place is new as one.

    :raises LocationNotFound: there is no such place, or it is out of the membership's reach.
    :raises InvalidFields: a place of quarantine would be sellable.
    :raises StockPlaceCodeTaken: by another stock location of the tenant.
    :raises LocationForbidden, LocationTooDeep, QuotaExceeded: as `organizations.public.create_location`.
    """
    given = data["location_id"]
    if given is None:
        place = {name: data[name] for name in ("name", "type") if data[name]}
        if data["parent_id"]:
            place["parent_id"] = data["parent_id"]
        location = organizations.create_location(actor, {**place, "time_zone": data["time_zone"] or ""}, at)
    else:
        location = organizations.locked_location(actor, given)
        if location.type == _QUARANTINE and data["sellable"]:
            message = "Goods in quarantine are not for sale."
            raise InvalidFields(errors=[FieldError("sellable", "invalid", message)])
    found = StockPlace.objects.of(actor).select_for_update().filter(location_id=location.id).first()
    row = found or StockPlace(tenant_id=actor.tenant_id, location_id=location.id, created_at=at, updated_at=at)
    changed = row.assign(_columns(data))
    if found is None:
        row.save(force_insert=True)
    elif changed:
        row.save_version(*changed, at=at)
        if "sellable" in changed:
            _refresh(row, at)
    return row, found is None


@needs_transaction
def _refresh(place: StockPlace, at: datetime) -> None:
    """Mark what lies at a place as changed, and write the availability of its products, in the order of their ids."""
    (marked,) = run([Call(_MARK_LEVELS, [str(place.tenant_id), str(place.location_id), at.isoformat()])])
    products = sorted({UUID((marked.value(number) or b"").decode()) for number in range(len(marked))})
    for first in range(0, len(products), _BATCH):
        run(availability.refresh_calls(place.tenant_id, products[first : first + _BATCH], at))


def _columns(data: Mapping[str, Any]) -> dict[str, Any]:
    temperature = data["temperature"] or {"min_c": None, "max_c": None}
    names = ("code", "sellable", "tracks_stock", "license_types", "license_valid_to")
    return {
        **{name: data[name] for name in names},
        **temperature,
        "gln": data["gln"] or "",
        "license_number": data["license_number"] or "",
    }
