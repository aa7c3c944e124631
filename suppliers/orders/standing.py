"""How a buyer stands to the supplier of an order, and what the place of delivery may receive; read bound to the buyer."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from core import budgets
from core.arrays import array_literal, numbers
from core.errors import FieldError
from core.money import Money
from core.pipeline import Call, Rows, Statement
from organizations.public import today_sql
from suppliers.quoting.shares import Asking, Taken, taken_of
from suppliers.relationships.states import Block

from .models import PurchaseOrder, PurchaseOrderLine
from .refusals import (
    AllocationExceeded,
    LicenseMissing,
    NotOnFormulary,
    RelationshipBlocked,
    SpendLimitExceeded,
)


class Standing(NamedTuple):
    """The relationship, all empty where there is none, and the place: its address, country, and licences valid today."""

    blocks: Any
    spend_limit: Any
    categories: Any
    blocked_products: Any
    address: Any
    country: str
    licenses: Any
    currency: str


class Share(NamedTuple):
    """An offer that gives each buyer a number of packs in a shortage, within so many days."""

    offer_id: UUID
    packs: int
    period_days: int


class Period(NamedTuple):
    """An offer of a supplier, and the days in which what a buyer takes of it counts."""

    offer_id: UUID
    supplier_id: UUID
    days: int


_NONE: Final = UUID(int=0)
_GONE: Final = "('draft', 'rejected', 'cancelled')"
_STANDING = Statement.of(
    "SELECT coalesce(to_json(r.blocks), '[]') AS blocks, coalesce(r.spend_limit, 'null') AS spend_limit,"
    " coalesce(to_json(r.approved_categories), '[]') AS categories,"
    " (SELECT coalesce(json_agg(x.product_id), '[]') FROM suppliers_blockedproduct x WHERE x.tenant_id = $1"
    " AND x.supplier_id = t.supplier_tenant_id) AS blocked_products,"
    " json_build_object('name', l.name, 'address', l.address) AS address, coalesce(l.address ->> 'country', '') AS country,"
    f" CASE WHEN s.license_valid_to IS NULL OR s.license_valid_to > {today_sql('$1::uuid', '$3::timestamptz')}"
    " THEN coalesce(s.license_types, '[]') ELSE '[]' END AS licenses,"
    " (SELECT n.currency FROM organizations_tenant n WHERE n.id = $1) AS currency"
    " FROM suppliers_purchaseorder t"
    " JOIN organizations_location l ON l.tenant_id = t.tenant_id AND l.id = coalesce($4::uuid, t.delivery_location_id) AND l.tenant_id = $1"
    " LEFT JOIN suppliers_stockplace s ON s.tenant_id = t.tenant_id AND s.location_id = l.id AND s.tenant_id = $1"
    " LEFT JOIN suppliers_relationship r ON r.tenant_id = t.tenant_id AND r.supplier_id = t.supplier_tenant_id AND r.tenant_id = $1"
    " WHERE t.tenant_id = $1 AND t.id = $2",
    row=Standing,
)
# As whoever writes a relationship: submits of one buyer to one supplier wait for each other, so that sums are exact.
_LOCK = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('relationship ' || $1 || ' ' || $2, 0))")
_LOCK_SHARED = Statement.of(
    "SELECT pg_advisory_xact_lock_shared(hashtextextended('relationship ' || $1 || ' ' || $2, 0))"
)
_SPENT = Statement.of(
    "SELECT coalesce(sum(o.gross - o.given_back + coalesce(c.more_gross, 0)), 0)::text FROM organizations_tenant n"
    " CROSS JOIN suppliers_purchaseorder o LEFT JOIN suppliers_orderchange c ON c.tenant_id = $1 AND c.order_id = o.id"
    " AND c.state = 'open' AND c.more_gross > 0 WHERE n.id = $1 AND o.tenant_id = $1 AND o.supplier_tenant_id = $2 AND o.currency = $3 AND o.id <> $4"
    f" AND o.status NOT IN {_GONE} AND o.submitted_at >="
    " date_trunc($5, $6::timestamptz AT TIME ZONE n.time_zone) AT TIME ZONE n.time_zone"
)
_SHARES = Statement.of(
    "SELECT o.id AS offer_id, o.limit_quantity AS packs, o.limit_period_days AS period_days FROM suppliers_offer o"
    " WHERE o.tenant_id = $1 AND o.product_id = ANY($2::uuid[])"
    f" AND o.limit_until >= {today_sql('$1::uuid', '$3::timestamptz')}",
    row=Share,
)
_TAKEN = Statement.of(
    "SELECT w.offer_id, coalesce((SELECT sum(l.ordered - l.cancelled) FROM suppliers_purchaseorder o"
    " JOIN suppliers_purchaseorderline l ON l.tenant_id = o.tenant_id AND l.order_id = o.id AND l.tenant_id = $1"
    " WHERE o.tenant_id = $1 AND o.supplier_tenant_id = w.supplier_id AND o.id <> $2 AND l.offer_id = w.offer_id"
    f" AND o.status NOT IN {_GONE} AND o.submitted_at > $6::timestamptz - make_interval(days => w.days)"
    " AND NOT ($7::boolean AND o.sent_at IS NULL)), 0)::bigint"
    " + coalesce((SELECT sum((h.value ->> 1)::bigint) FROM suppliers_orderchange c"
    " JOIN suppliers_purchaseorder o ON o.tenant_id = c.tenant_id AND o.id = c.order_id AND o.tenant_id = $1"
    " CROSS JOIN LATERAL jsonb_array_elements(c.more -> 'shares') AS h(value) WHERE c.tenant_id = $1 AND c.state = 'open'"
    " AND c.more <> '{}' AND o.supplier_tenant_id = w.supplier_id AND o.id <> $2 AND h.value ->> 0 = w.offer_id::text"
    " AND NOT ($7::boolean AND o.status = 'pending_approval')), 0)::bigint"
    " AS base_quantity"
    " FROM unnest($3::uuid[], $4::uuid[], $5::int[]) AS w(offer_id, supplier_id, days)",
    row=Taken,
)


def standing_call(tenant_id: UUID, order_id: UUID, at: datetime, location_id: UUID | None = None) -> Call:
    """Return the statement that reads how the bound buyer stands to the supplier of an order; `standing_of` reads its row.

    The place is that of the order, or another one that is named.
    """
    place = str(location_id) if location_id else None
    return Call(_STANDING, [str(tenant_id), str(order_id), at.isoformat(), place])


def standing_of(found: Rows) -> Standing:
    """Return what `standing_call` has read."""
    return found.of(Standing)[0]


def serial_call(buyer_id: UUID, supplier_id: UUID) -> Call:
    """Return the statement after which no other submit of the buyer to the supplier is under way; the request hurries from then on."""
    budgets.hurry()
    return Call(_LOCK, [str(buyer_id), str(supplier_id)])


def beginning_call(buyer_id: UUID, supplier_id: UUID) -> Call:
    """Return the statement behind which the buyer begins an order to the supplier: none begins while it is merged into another one."""
    return Call(_LOCK_SHARED, [str(buyer_id), str(supplier_id)])


def shares_call(supplier_id: UUID, products: Sequence[UUID], at: datetime) -> Call:
    """Return the statement that reads which offers are short, for a transaction bound to the supplier."""
    return Call(_SHARES, [str(supplier_id), array_literal(products), at.isoformat()])


def used_calls(
    row: PurchaseOrder, standing: Standing, shares: Sequence[Share], at: datetime, *, with_own: bool = False
) -> list[Call]:
    """Return the statements that sum up what the buyer, which is bound, has ordered before; `check_more` reads them.

    They run behind `serial_call`. With `with_own` the order itself counts too.
    """
    limit = standing.spend_limit or {"currency": row.currency, "period": "year"}
    key = str(_NONE if with_own else row.id)
    own, supplier, moment = str(row.tenant_id), str(row.supplier_tenant_id), at.isoformat()
    periods = [Period(one.offer_id, row.supplier_tenant_id, one.period_days) for one in shares]
    return [
        Call(_SPENT, [own, supplier, limit["currency"], key, limit["period"], moment]),
        taken_call(row.tenant_id, periods, at, besides=_NONE if with_own else row.id),
    ]


def taken_call(
    buyer_id: UUID, periods: Sequence[Period], at: datetime, *, besides: UUID = _NONE, is_sent: bool = False
) -> Call:
    """Return the statement that reads what the buyer, which is bound, has taken of offers by its orders besides one.

    `is_sent` leaves out what no supplier knows of yet. See `quoting.shares.taken_of`.
    """
    offers, suppliers = (
        array_literal(ids) for ids in ([one.offer_id for one in periods], [one.supplier_id for one in periods])
    )
    days, sent = numbers(one.days for one in periods), "t" if is_sent else "f"
    return Call(_TAKEN, [str(buyer_id), str(besides), offers, suppliers, days, at.isoformat(), sent])


def asked_call(asking: Asking, days: Mapping[UUID, int], at: datetime) -> Call:
    """Return the statement that reads what a buyer has taken of offers, for quotes; see `quoting.shares`."""
    periods = [Period(offer_id, asking.supplier_id, within) for offer_id, within in days.items()]
    return taken_call(asking.buyer_id, periods, at, is_sent=asking.is_sent)


def check_relationship(standing: Standing) -> None:
    """Require that the relationship stops no orders.

    :raises RelationshipBlocked: it does.
    """
    if Block.ORDERS.value in standing.blocks:
        raise RelationshipBlocked


def check_formulary(
    standing: Standing, lines: Sequence[PurchaseOrderLine], paths: Mapping[UUID, frozenset[str]]
) -> None:
    """Require that the relationship approves each product.

    :raises NotOnFormulary: names each line.
    """
    approved, blocked = frozenset(standing.categories), frozenset(standing.blocked_products)
    errors = [
        FieldError(f"lines.{number}", NotOnFormulary.code, "The product is not approved.")
        for number, line in enumerate(lines)
        if line.product_id is not None
        and (str(line.product_id) in blocked or (approved and not approved & paths.get(line.product_id, frozenset())))
    ]
    if errors:
        raise NotOnFormulary(errors=errors)


def check_licenses(standing: Standing, lines: Sequence[PurchaseOrderLine]) -> None:
    """Require that the place of delivery holds the licence of each controlled product.

    :raises LicenseMissing: names each line.
    """
    errors = [
        FieldError(f"lines.{number}", LicenseMissing.code, f"The place holds no valid licence {line.license_type!r}.")
        for number, line in enumerate(lines)
        if line.license_type and line.license_type not in standing.licenses
    ]
    if errors:
        raise LicenseMissing(errors=errors)


def check_more(  # what is read of limits, and what moves
    row: PurchaseOrder,
    lines: Sequence[PurchaseOrderLine],
    standing: Standing,
    shares: Sequence[Share],
    found: Sequence[Rows],
    *,
    more_gross: Decimal,
    more: Mapping[UUID, int],
) -> None:
    """Hold what an order needs more to the limit of spending, and to the buyer's shares; `found` are the rows of `used_calls`.

    `lines` are those of the order as it would be; `more` are base units by offer.

    :raises SpendLimitExceeded: the limit has less left.
    :raises AllocationExceeded: names each line of an offer of which the buyer gets less.
    """
    spent, taken = found
    limit = standing.spend_limit
    if limit and limit["currency"] == row.currency and more_gross > 0:
        left = Decimal(limit["amount"]) - Decimal((spent.value() or b"0").decode())
        if more_gross > left:
            raise SpendLimitExceeded(available=Money(max(left, Decimal(0)), row.currency).rounded().as_json())
    before = taken_of([taken])
    errors = [
        error
        for share in shares
        if (wanted := more.get(share.offer_id, 0)) > 0
        for error in _beyond(share, before[share.offer_id], wanted, lines)
    ]
    if errors:
        raise AllocationExceeded(errors=errors)


def _beyond(share: Share, before: int, wanted: int, lines: Sequence[PurchaseOrderLine]) -> list[FieldError]:
    """Return an error for each line of an offer of which a buyer who has taken some wants more than its share."""
    of_offer = [one for one in lines if one.offer_id == share.offer_id and one.ordered > one.cancelled]
    if not of_offer or before + wanted <= share.packs * of_offer[0].units_per_pack:
        return []
    left = max(0, share.packs - before // of_offer[0].units_per_pack)
    message, told = f"{left} packs are left for you.", {"remaining": left}
    return [FieldError(f"lines.{one.line_no - 1}", AllocationExceeded.code, message, told) for one in of_offer]
