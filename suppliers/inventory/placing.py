"""Stock locations: a new place that keeps stock, or stock kept at a place that exists; quarantine is never for sale."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run
from ledger.public import Fact
from organizations import public as organizations
from suppliers.catalog import availability

from .models import StockPlace

OF_LOCATIONS: Final = ("location.updated",)
_QUARANTINE = "quarantine"
_BATCH = 1_000
# Whether goods of a place may be sold stands with their levels; the sweep tells of them.
_MARK_LEVELS = Statement.of(
    "UPDATE suppliers_stocklevel v SET is_untold = true, version = v.version + 1, updated_at = $3 WHERE v.tenant_id = $1"
    " AND v.id IN (SELECT w.id FROM suppliers_stocklevel w WHERE w.tenant_id = $1 AND w.location_id = $2 AND w.on_hand > 0"
    " ORDER BY w.id FOR NO KEY UPDATE) RETURNING v.product_id::text"
)


@needs_transaction
def put_stock_location(
    actor: Actor, data: Mapping[str, Any], at: datetime, check_found: Callable[[Any], None] | None = None
) -> tuple[StockPlace, bool]:
    """Make or replace a stock location; tell whether the place is new as one.

    `check_found` holds the locked row, or None, to the caller's preconditions.

    :raises VersionConflict: they do not hold.
    :raises LocationNotFound: there is no such place, or it is out of the membership's reach.
    :raises InvalidFields: a place of quarantine would be sellable.
    :raises StockPlaceCodeTaken: by another stock location of the tenant.
    :raises LocationForbidden, LocationTooDeep, QuotaExceeded: as `organizations.public.create_location`.
    """
    given = data["location_id"]
    if given is None:
        place = {name: data[name] for name in ("name", "type") if data[name]}
        place |= {name: data[name] for name in ("parent_id", "address") if data[name]}
        if data["active"] is False:
            place["status"] = "inactive"
        location = organizations.create_location(actor, {**place, "time_zone": data["time_zone"] or ""}, at)
    else:
        location = organizations.locked_location(actor, given)
        if location.type == _QUARANTINE and data["sellable"]:
            message = "Goods in quarantine are not for sale."
            raise InvalidFields(errors=[FieldError("sellable", "invalid", message)])
    found = StockPlace.objects.of(actor).select_for_update().filter(location_id=location.id).first()
    if check_found:
        check_found(found)
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
def follow_locations(facts: Sequence[Fact]) -> None:
    """Take what lies at places that have become places of quarantine off the market."""
    tenant_id = facts[0].tenant_id
    turned = {fact.resource_id: fact.occurred_at for fact in facts if "type" in fact.data["changed"]}
    if not turned:
        return
    places = StockPlace.objects.filter(
        tenant_id=tenant_id,
        location_id__in=turned,
        location__tenant_id=tenant_id,
        location__type=_QUARANTINE,
        sellable=True,
    )
    for row in places.select_for_update(of=("self",)).order_by("location_id"):
        row.sellable = False
        row.save_version("sellable", at=turned[row.location_id])
        _refresh(row, turned[row.location_id])


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
