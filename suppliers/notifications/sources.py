"""What alerts tell of goods and licences, as it stands now: each function looks at subjects and yields what holds.

Source: contract, supply-order.md 5 and supply-shelf.md "Lot", "Recall", "Dispensing".
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement, run
from suppliers.company.states import THRESHOLDS
from suppliers.company.today import today_call, today_of
from suppliers.inventory.expiring import LEFT

from .alerts import Cause
from .preferences import Preferences
from .states import Severity

LEVEL: Final = "stock_level"
LOT: Final = "lot"
LICENSE: Final = "license"
RECALL: Final = "recall"
RECALL_NOTICE: Final = "recall_notice"
PLACE: Final = "location"
_SOON: Final = 7  # days


class _Level(NamedTuple):
    """A level with what is free of it, and of its product at its place."""

    id: UUID
    sku: str
    lot_number: str | None
    place: str
    location_id: UUID
    free: int
    at_place: int
    threshold: int | None


_SKU = "coalesce(NULLIF(p.supplier_sku, ''), NULLIF(i.supplier_sku, ''), 'unnamed')"
_GOODS = (
    " JOIN suppliers_stockitem i ON i.tenant_id = {0}.tenant_id AND i.id = {0}.product_id AND i.tenant_id = $1"
    " LEFT JOIN suppliers_product p ON p.tenant_id = i.tenant_id AND p.id = i.own_product_id AND p.tenant_id = $1"
)
_LEVELS = Statement.of(
    f"SELECT v.id, {_SKU} AS sku, l.lot_number, o.name AS place, v.location_id, v.on_hand - v.reserved AS free,"
    " (SELECT sum(s.on_hand - s.reserved)::bigint FROM suppliers_stocklevel s WHERE s.tenant_id = $1"
    " AND s.product_id = v.product_id AND s.location_id = v.location_id) AS at_place, v.low_stock_threshold AS threshold"
    " FROM suppliers_stocklevel v"
    " JOIN organizations_location o ON o.tenant_id = v.tenant_id AND o.id = v.location_id AND o.tenant_id = $1"
    f"{_GOODS.format('v')}"
    " LEFT JOIN suppliers_lot l ON l.tenant_id = v.tenant_id AND l.id = v.lot_id AND l.tenant_id = $1"
    " WHERE v.tenant_id = $1 AND v.id = ANY($2::uuid[])",
    row=_Level,
)


def low_stock(tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime) -> Iterator[Cause]:
    """Yield the levels of which too little is free.

    A level with a threshold of its own is held against that. Otherwise all that is free of the product at the place counts:
    a lot that is used up is no news while others lie beside it.
    """
    (found,) = run([Call(_LEVELS, [str(tenant_id), array_literal(subjects)])])
    for one in found.of(_Level):
        own = one.threshold is not None
        free = one.free if own else one.at_place
        least = one.threshold if own else preferences.low_stock_default
        if free > 0 and (least is None or free >= least):
            continue
        lot = f", lot {one.lot_number}" if one.lot_number else ""
        threshold = "" if least is None else f" The threshold is {least}."
        yield Cause(
            resource_type=LEVEL,
            resource_id=str(one.id),
            severity=Severity.WARNING if free > 0 else Severity.CRITICAL,
            title=_title(f"{'Low stock' if free > 0 else 'Out of stock'}: {one.sku}"),
            body=f"{free} base units of {one.sku}{lot} are free at {one.place}.{threshold}",
            location_id=one.location_id,
            value=free,
        )


class _Lot(NamedTuple):
    """A lot, and how many days it lasts where it lies; None where nothing of it is in stock."""

    id: UUID
    sku: str
    lot_number: str
    expiry_date: str | None
    days: int | None
    location_id: UUID | None


_LOTS = Statement.of(
    f"SELECT l.id, {_SKU} AS sku, l.lot_number, l.expiry_date::text, d.days, w.location_id FROM suppliers_lot l"
    f"{_GOODS.format('l')}"
    f" CROSS JOIN LATERAL ({LEFT}) d CROSS JOIN LATERAL (SELECT CASE WHEN count(DISTINCT v.location_id) = 1"
    " THEN min(v.location_id::text)::uuid END AS location_id FROM suppliers_stocklevel v"
    " WHERE v.tenant_id = $1 AND v.product_id = l.product_id AND v.lot_id = l.id AND v.on_hand > 0) w"
    " WHERE l.tenant_id = $1 AND l.id = ANY($3::uuid[])",
    row=_Lot,
)


def expiring_lots(tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime) -> Iterator[Cause]:
    """Yield the lots in stock that expire soon, or have expired."""
    (found,) = run([Call(_LOTS, [str(tenant_id), at.isoformat(), array_literal(subjects)])])
    for one in found.of(_Lot):
        if one.days is None or one.days > max(preferences.expiry_days):
            continue
        when = "has expired" if one.days < 0 else f"expires in {one.days} days"
        yield Cause(
            resource_type=LOT,
            resource_id=str(one.id),
            severity=Severity.CRITICAL if one.days < 0 else Severity.WARNING if one.days <= _SOON else Severity.INFO,
            title=_title(f"{'Expired' if one.days < 0 else 'Expiring'} lot: {one.lot_number} of {one.sku}"),
            body=f"Lot {one.lot_number} of {one.sku} {when}; its last day of use is {one.expiry_date}.",
            location_id=one.location_id,
            value=one.days,
        )


class _License(NamedTuple):
    """A licence and its end."""

    id: UUID
    type: str
    number: str
    valid_to: str
    left: int


_LICENSES = Statement.of(
    "SELECT l.id, l.type, l.number, l.valid_to::text, l.valid_to - $3::date AS left FROM suppliers_supplierlicense l"
    " WHERE l.tenant_id = $1 AND l.id = ANY($2::uuid[]) AND l.valid_to IS NOT NULL",
    row=_License,
)


def ending_licenses(
    tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime
) -> Iterator[Cause]:
    """Yield the licences that end soon, or have ended, by the date at the supplier."""
    (today,) = run([today_call(tenant_id, at)])
    (found,) = run([Call(_LICENSES, [str(tenant_id), array_literal(subjects), today_of(today).isoformat()])])
    for one in found.of(_License):
        if one.left > max(THRESHOLDS):
            continue
        ended = one.left <= 0
        said = "holds no more" if ended else f"holds for {one.left} days more"
        yield Cause(
            resource_type=LICENSE,
            resource_id=str(one.id),
            severity=Severity.CRITICAL if ended else Severity.WARNING if one.left <= _SOON else Severity.INFO,
            title=_title(f"Licence {'has ended' if ended else 'ends soon'}: {one.type} {one.number}"),
            body=f"The licence {one.type} {one.number} {said}: {one.valid_to} is the first day without it.",
            value=one.left,
        )


class _Unbooked(NamedTuple):
    """A place with dispensed lines that stock did not book."""

    location_id: UUID
    place: str


_UNBOOKED = Statement.of(
    "SELECT o.id AS location_id, o.name AS place FROM organizations_location o"
    " WHERE o.tenant_id = $1 AND o.id = ANY($2::uuid[]) AND EXISTS (SELECT 1 FROM suppliers_dispensebooking b"
    " WHERE b.tenant_id = $1 AND b.status = 'unbooked' AND b.location_id = o.id)",
    row=_Unbooked,
)


def unbooked_places(
    tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime
) -> Iterator[Cause]:
    """Yield the places where dispensed lines were not taken from stock."""
    (found,) = run([Call(_UNBOOKED, [str(tenant_id), array_literal(subjects)])])
    for one in found.of(_Unbooked):
        yield Cause(
            resource_type=PLACE,
            resource_id=str(one.location_id),
            severity=Severity.WARNING,
            title=_title(f"Dispensed goods not booked: {one.place}"),
            body=f"Goods were dispensed at {one.place} that could not be taken from its stock. Count them, or adjust the stock.",
            location_id=one.location_id,
        )


def _title(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"
