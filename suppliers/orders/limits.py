"""What a submit takes of agreements and promotions, and what an order that ends gives back. Source: contract, supply-order.md 2 "Limits"."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.errors import Busy
from core.pipeline import Call, Rows, Statement
from ledger.public import Occurrence
from suppliers.agreements import caps
from suppliers.agreements.caps import Taken
from suppliers.pricing.amounts import line_total
from suppliers.terms.promotions import redeeming
from suppliers.terms.promotions.redeeming import Wanted

from .models import PurchaseOrder, PurchaseOrderLine
from .progress import counted


class Agreed(NamedTuple):
    """A line of an agreement in force for a buyer; `agreement_id` is that of all its versions, `owner_id` the tenant that counts it.

    `tolerance_bp` is by how much more may be shipped than is accepted, in hundredths of a percent; `qty_tolerance_bp` and
    `price_tolerance_bp` are what invoices are held against, `days` how long the goods must last; null where the agreement
    says nothing.
    """

    id: UUID
    agreement_id: UUID
    revision: int
    line_no: int
    owner_id: UUID
    tolerance_bp: int
    qty_tolerance_bp: int | None
    price_tolerance_bp: int | None
    days: int | None


_AGREED: Final = Statement.of(
    "SELECT l.id, c.agreement_id, c.revision, l.line_no, c.owner_tenant_id AS owner_id,"
    " coalesce((c.representation ->> 'qty_tolerance_bp')::int, 0) AS tolerance_bp,"
    " (c.representation ->> 'qty_tolerance_bp')::int AS qty_tolerance_bp,"
    " (c.representation ->> 'price_tolerance_bp')::int AS price_tolerance_bp, l.min_remaining_shelf_life_days AS days"
    " FROM suppliers_agreementaudience a"
    " JOIN suppliers_receivedagreement c ON c.tenant_id = a.tenant_id AND c.id = a.agreement_id AND c.tenant_id = $1 AND c.in_force"
    " JOIN suppliers_receivedagreementline l ON l.tenant_id = c.tenant_id AND l.document_id = c.id AND l.tenant_id = $1"
    " WHERE a.tenant_id = $1 AND a.member_tenant_id = $3 AND (l.product_id = ANY($2::uuid[]) OR l.category IS NOT NULL)",
    row=Agreed,
)


def agreed_call(supplier_id: UUID, products: Sequence[UUID], buyer_id: UUID) -> Call:
    """Return the statement that reads the lines of agreements that may be the source of prices, bound to the supplier."""
    return Call(_AGREED, [str(supplier_id), array_literal(products), str(buyer_id)])


def note_agreements(lines: Sequence[PurchaseOrderLine], found: Rows) -> None:
    """Let each line that is priced by an agreement name the line that counts it.

    :raises Busy: the version of a price was suspended, ended or superseded since the statement before, which has read it.
    """
    known = {(one.agreement_id, one.revision, one.line_no): one for one in found.of(Agreed)}
    for line in lines:
        if line.agreement:
            agreed = known.get((UUID(line.agreement["id"]), line.agreement["revision"], line.agreement["line_no"]))
            if agreed is None:
                raise Busy
            line.tolerance = line.ordered * agreed.tolerance_bp // 10_000
            line.agreement = {
                "id": line.agreement["id"],
                "line_no": agreed.line_no,
                "line_id": str(agreed.id),
                "owner_id": str(agreed.owner_id),
                "qty_tolerance_bp": agreed.qty_tolerance_bp,
                "price_tolerance_bp": agreed.price_tolerance_bp,
                "min_remaining_shelf_life_days": agreed.days,
            }


def taken_of(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], less: Mapping[UUID, int] | None = None
) -> list[Taken]:
    """Return what an order takes of agreements; with `less`, base units by the ids of lines, so much of it."""
    return [
        Taken(
            UUID(line.agreement["owner_id"]),
            row.supplier_tenant_id,
            UUID(line.agreement["line_id"]),
            line.ordered if less is None else less.get(line.id, 0),
            f"lines.{line.line_no - 1}",
        )
        for line in lines
        if line.agreement and "line_id" in line.agreement
    ]


def saved_by(lines: Sequence[PurchaseOrderLine]) -> dict[UUID, Decimal]:
    """Return what is not cancelled of some lines saves by each promotion."""
    saved: dict[UUID, Decimal] = defaultdict(Decimal)
    for line in lines:
        share = Fraction(counted(line), line.ordered)
        for key, amount in line.redeemed:
            if share:
                saved[UUID(key)] += line_total(Decimal(amount), share, 1, line.currency)
    return dict(saved)


def wanted_of(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine]) -> list[Wanted]:
    """Return what an order saves by each promotion."""
    return [Wanted(key, amount, row.currency) for key, amount in sorted(saved_by(lines).items())]


def taking_calls(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], at: datetime) -> list[Call]:
    """Return the statements that take an order's limits of agreements and promotions; `taken` reads their rows.

    They bind the tenants that they need; the supplier stays bound.
    """
    promotions = redeeming.redeem(
        row.supplier_tenant_id, document_id=row.id, buyer_id=row.tenant_id, wanted=wanted_of(row, lines), at=at
    )
    return [*caps.taking_calls(taken_of(row, lines)), bind_call(row.supplier_tenant_id), *promotions]


def taken(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], found: Sequence[Rows]) -> list[Occurrence]:
    """Return what is to be told to the supplier of its promotions.

    :raises AgreementExhausted, PromotionExhausted: name what is used up.
    """
    counted, wanted = taken_of(row, lines), wanted_of(row, lines)
    promotions = 2 if wanted else 0
    of_caps = found[: len(found) - promotions - 1]
    caps.check_taken(counted, of_caps)
    return redeeming.redeemed(wanted, found[len(found) - promotions :])


def copy_calls(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine]) -> list[Call]:
    """Return the statements that count the same in the suppliers' copies of agreements; they bind the supplier."""
    return caps.copy_calls(taken_of(row, lines))


class Returning(NamedTuple):
    """What an order gives back: of agreements, each at the line that counts it now, and of promotions.

    These are all; or `gone`, and of others so much that `wanted` is kept.
    """

    taken: Sequence[Taken]
    is_all: bool = True
    wanted: Sequence[Wanted] = ()
    gone: Collection[UUID] = ()

    def calls(self, row: PurchaseOrder, at: datetime) -> list[Call]:
        """Return the statements that give it back; they bind the tenants that they need, the supplier at last."""
        return [
            *caps.returning_calls(self.taken),
            bind_call(row.supplier_tenant_id),
            *[call for group in self._promotions(row, at) for call in group],
        ]

    def _promotions(self, row: PurchaseOrder, at: datetime) -> tuple[list[Call], list[Call], list[Call]]:
        """Return the statements that lock promotions, give back, and keep less of others."""
        own = row.supplier_tenant_id
        if self.is_all:
            return [], redeeming.give_back(own, document_id=row.id, at=at), []
        both = [*self.gone, *(one.promotion_id for one in self.wanted)]
        return (
            [redeeming.lock_call(own, both, at)] if both else [],
            redeeming.give_back(own, document_id=row.id, at=at, only=self.gone) if self.gone else [],
            redeeming.redeem(own, document_id=row.id, buyer_id=row.tenant_id, wanted=self.wanted, at=at),
        )

    def given(self, found: Sequence[Rows]) -> list[Occurrence]:
        """Return what is to be told to the supplier of its promotions."""
        of_caps = len(caps.returning_calls(self.taken))
        caps.check_returned(self.taken, found[:of_caps])
        rest = [*found[of_caps + 1 :]]
        if not self.is_all:
            rest = rest[1:]  # the locks
        news = redeeming.given_back([rest.pop(0)]) if self.is_all or self.gone else []
        return [*news, *redeeming.redeemed(self.wanted, rest)]

    def copy_calls(self) -> list[Call]:
        """Return the statements that count the same in the copies; they bind the supplier."""
        return caps.copy_returning_calls(self.taken)


@needs_transaction
def returning(
    row: PurchaseOrder,
    lines: Sequence[PurchaseOrderLine],
    less: Mapping[UUID, int] | None = None,
    *,
    is_all: bool = True,
    more: Sequence[Taken] = (),
) -> Returning:
    """Return what an order gives back: all, or `less` by the ids of lines; another tenant may be bound then.

    `more` is what its open changes have taken. A promotion counts as redeemed as long as something of its lines is kept.
    """
    given = [one for one in [*taken_of(row, lines, less), *more] if one.quantity]
    taken = caps.current(given).less if given else []
    if is_all:
        return Returning(taken)
    touched = {UUID(key) for line in lines if (less or {}).get(line.id) for key, _ in line.redeemed}
    wanted = [one for one in wanted_of(row, lines) if one.promotion_id in touched]
    return Returning(taken, False, wanted, touched - {one.promotion_id for one in wanted})


def traces_of(lines: Sequence[PurchaseOrderLine]) -> dict[str, Any]:
    """Return the traces of lines by their ids, as the supplier keeps them; of a price that he has proposed, that of its check."""
    return {str(line.id): line.trace or (line.price_check or {}).get("trace", []) for line in lines}
