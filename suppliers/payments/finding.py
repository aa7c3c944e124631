"""Finding payments and the invoices that they move, locked. Lock order: orders by id, invoices by id, payment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import NotFound
from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement
from organizations.public import Party, SharedDocument, TwoParty, reach
from suppliers.invoices.models import Invoice
from suppliers.orders.models import PurchaseOrder

from .billing import Bill, bills, bills_of
from .models import PAYMENTS, CreditSource, Payment, PaymentAllocation


def _columns(model: Any, alias: str) -> str:
    return ", ".join(f'{alias}."{one.column}"' for one in model._meta.concrete_fields)


class Parties(NamedTuple):
    """What is to be known of both parties: what the relationship stops, whether the buyer manages the supplier, its time zone."""

    blocks: Any
    is_managed: bool
    time_zone: str


# Members of the buyer who are limited to places pay what goes there, or below.
PLACE: Final = reach("location_id", below=True)
_GIVEN: Final = "= ANY($2::uuid[])"
_OF_PAYMENT: Final = (
    "IN (SELECT x.invoice_id FROM suppliers_paymentallocation x WHERE x.tenant_id = $1 AND x.payment_id = $2"
    " UNION SELECT y.invoice_id FROM suppliers_creditsource y WHERE y.tenant_id = $1 AND y.payment_id = $2)"
)
_PARTIES_SQL: Final = (
    "SELECT coalesce((SELECT to_json(r.blocks) FROM suppliers_relationship r WHERE r.tenant_id = $1 AND r.supplier_id = {0}),"
    " '[]') AS blocks, coalesce((SELECT s.managed_by_id IS NOT NULL FROM organizations_tenant s WHERE s.id = {0}), false)"
    " AS is_managed, b.time_zone FROM organizations_tenant b WHERE b.id = $1"
)


def _invoices(which: str) -> Statement:
    return Statement.of(
        f"SELECT {_columns(Invoice, 'i')} FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.id {which}"
        " ORDER BY i.id FOR UPDATE"
    )


def _orders(which: str) -> Statement:
    return Statement.of(
        f"SELECT {_columns(PurchaseOrder, 'o')} FROM suppliers_purchaseorder o WHERE o.tenant_id = $1 AND o.id IN"
        f" (SELECT i.order_id FROM suppliers_invoice i WHERE i.tenant_id = $1 AND i.id {which}) ORDER BY o.id FOR UPDATE"
    )


def _parts(model: Any) -> Statement:
    return Statement.of(
        f"SELECT {_columns(model, 't')} FROM {model._meta.db_table} t WHERE t.tenant_id = $1 AND t.payment_id = $2"
        " ORDER BY t.position"
    )


_INVOICES_GIVEN, _INVOICES_OF = _invoices(_GIVEN), _invoices(_OF_PAYMENT)
_ORDERS_GIVEN, _ORDERS_OF = _orders(_GIVEN), _orders(_OF_PAYMENT)
_BILLS_GIVEN, _BILLS_OF = bills(_GIVEN), bills(_OF_PAYMENT)
_ALLOCATIONS, _SOURCES = _parts(PaymentAllocation), _parts(CreditSource)
_PARTIES_GIVEN = Statement.of(_PARTIES_SQL.format("$2"), row=Parties)
_PARTIES_OF = Statement.of(
    _PARTIES_SQL.format("(SELECT p.supplier_tenant_id FROM suppliers_payment p WHERE p.tenant_id = $1 AND p.id = $2)"),
    row=Parties,
)


@dataclass(frozen=True, slots=True, eq=False)
class Books:
    """Invoices with their orders and bills, locked, and what is to be known of both parties."""

    orders: Mapping[UUID, PurchaseOrder]
    invoices: Mapping[UUID, Invoice]
    bills: Mapping[UUID, Bill]
    parties: Parties

    def date_of(self, at: datetime) -> date:
        """Return the date at the buyer."""
        return at.astimezone(ZoneInfo(self.parties.time_zone)).date()


def given_calls(tenant_id: UUID, supplier_id: UUID, invoice_ids: Iterable[UUID]) -> list[Call]:
    """Return the statements that lock invoices with their orders and read the rest; `books_of` reads them."""
    own, named = str(tenant_id), array_literal(sorted({*invoice_ids}))
    locking = [Call(one, [own, named]) for one in (_ORDERS_GIVEN, _INVOICES_GIVEN, _BILLS_GIVEN)]
    return [*locking, Call(_PARTIES_GIVEN, [own, str(supplier_id)])]


def books_of(found: Sequence[Rows]) -> Books:
    """Return what was locked and read: orders, invoices, bills, parties."""
    orders, invoices, bill, parties = found
    return Books(
        {one.id: one for one in rows_of(PurchaseOrder, orders)}, {one.id: one for one in rows_of(Invoice, invoices)},
        bills_of(bill), parties.of(Parties)[0],
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class OwnPayment:
    """A payment of the caller's tenant with its parts and its books; all but the parts is locked."""

    actor: Actor
    row: Payment
    allocations: Sequence[PaymentAllocation]
    sources: Sequence[CreditSource]
    books: Books

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        return int(self.row.version)


@dataclass(frozen=True, slots=True, eq=False)
class PaymentAt(TwoParty):
    """The `find` of a buyer's action on a payment: what is out of the membership's reach does not exist."""

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock the orders and invoices, which come before their payments."""
        given = [str(owner_id), str(path[0])]
        return [Call(_ORDERS_OF, given), Call(_INVOICES_OF, given)]

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Read orders, invoices and the parts of the payment behind the locks."""
        given = [str(owner_id), str(path[0])]
        return [Call(one, given) for one in (_ALLOCATIONS, _SOURCES, _ORDERS_OF, _INVOICES_OF, _BILLS_OF, _PARTIES_OF)]

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> OwnPayment:  # type: ignore[override]  # with its invoices
        """Lock and return the payment.

        :raises NotFound, PartyClosed, CounterpartyOnly: as `TwoParty`.
        """
        found: SharedDocument = TwoParty.__call__(self, actor, *path, located=located)
        row: Payment = found.row
        if not PLACE.holds(actor, *(UUID(one) for one in row.location_ids)):
            raise NotFound(f"No such {self.kind.name}.")
        allocations, sources, *books = found.read
        return OwnPayment(
            actor, row, rows_of(PaymentAllocation, allocations), rows_of(CreditSource, sources), books_of(books)
        )


OWN: Final = PaymentAt(PAYMENTS, acts=Party.OWNER)
