"""Finding a payment for its buyer's action, with the books that it moves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound
from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement
from organizations.public import Party, SharedDocument, TwoParty, reach
from suppliers.invoices.models import Invoice

from .books import Books, books_of, columns, lock_calls, of_payment_calls
from .models import PAYMENTS, CreditSource, Payment, PaymentAllocation

# Members of the buyer who are limited to places pay what goes there, or below.
PLACE: Final = reach("location_id", below=True)


def _parts(model: Any) -> Statement:
    return Statement.of(
        f"SELECT {columns(model, 't')} FROM {model._meta.db_table} t WHERE t.tenant_id = $1 AND t.payment_id = $2"
        " ORDER BY t.position"
    )


_ALLOCATIONS, _SOURCES = _parts(PaymentAllocation), _parts(CreditSource)


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

    def invoice(self, part: PaymentAllocation | CreditSource) -> Invoice:
        """Return the invoice of a part."""
        found = self.books.invoice(part.invoice_id)
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class PaymentAt(TwoParty):
    """The `find` of a buyer's action on a payment: what is out of the membership's reach does not exist."""

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock the orders and invoices, which come before their payments."""
        return lock_calls(owner_id, path[0])

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Read the books and the parts of the payment behind the locks."""
        given = [str(owner_id), str(path[0])]
        return [Call(_ALLOCATIONS, given), Call(_SOURCES, given), *of_payment_calls(owner_id, path[0])]

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
