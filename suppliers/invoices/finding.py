"""Finding what invoices are written of: an order for its supplier, or an invoice for either party, with all that is billed.

Lock order: the order, then its invoices by id. Source: contract, supply.md 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.pipeline import Call, Rows, run
from organizations.public import CounterpartyOnly, Party, SharedDocument, TwoParty
from suppliers.orders.finding import WITHIN
from suppliers.orders.models import ORDERS

from .billed import Billed, billed_calls, billed_of, lock_calls
from .models import INVOICES, Invoice

_READS: Final = 6  # statements of `billed_calls`


@dataclass(frozen=True, slots=True, eq=False)
class BilledOrder:
    """A locked order with all that is billed of it, as the target of a write; its buyer is bound."""

    shared: SharedDocument
    billed: Billed

    @property
    def version(self) -> int:
        """The version that the caller's ETag of the order shows."""
        return self.shared.version


@dataclass(frozen=True, slots=True, eq=False)
class OrderToBill(TwoParty):
    """The `find` of a supplier's invoice of an order."""

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock and read what is billed behind the order."""
        return billed_calls(owner_id, path[0], by="order")

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> BilledOrder:  # type: ignore[override]  # with its bills
        """Lock and return the order.

        :raises NotFound, PartyClosed, CounterpartyOnly: as `TwoParty`.
        """
        found = TwoParty.__call__(self, actor, *path, located=located)
        billed = billed_of(found.read)
        assert billed is not None
        return BilledOrder(found, billed)


@dataclass(frozen=True, slots=True, eq=False)
class BilledInvoice:
    """A locked invoice with all that is billed of its order, as the target of a write; the buyer is bound."""

    shared: SharedDocument
    billed: Billed

    @property
    def row(self) -> Invoice:
        """The invoice."""
        found = self.billed.invoice(self.shared.row.pk)
        assert found is not None
        return found

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        return self.shared.version


@dataclass(frozen=True, slots=True, eq=False)
class InvoiceAt(TwoParty):
    """The `find` of an action on an invoice: what is out of a buyer's membership's reach does not exist."""

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock the order, and all its invoices by id: the one that is named may not be the first of them."""
        return lock_calls(owner_id, path[0])

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock and read all that is billed of the order."""
        return billed_calls(owner_id, path[0], by="invoice")

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> BilledInvoice:  # type: ignore[override]  # with its order
        """Lock and return the invoice.

        :raises NotFound, PartyClosed, CounterpartyOnly: as `TwoParty`.
        """
        found = TwoParty.__call__(self, actor, *path, located=located)
        if found.is_owner and not WITHIN.holds(actor, found.row.delivery_location_id):
            raise NotFound(f"No such {self.kind.name}.")
        billed = billed_of(found.read)
        assert billed is not None
        return BilledInvoice(found, billed)


TO_BILL: Final = OrderToBill(ORDERS, acts=Party.OTHER)
OF_BUYER: Final = InvoiceAt(INVOICES, acts=Party.OWNER)
OF_SUPPLIER: Final = InvoiceAt(INVOICES, acts=Party.OTHER)


@needs_transaction
def managed_order(actor: Actor, order_id: UUID) -> Billed:
    """Lock an order of the caller's tenant to a managed supplier, with all that is billed of it.

    :raises InvalidFields: the tenant has no such order in the actor's reach.
    :raises CounterpartyOnly: its supplier is on the platform and issues its invoices itself.
    """
    billed = billed_of(run(billed_calls(actor.tenant_id, order_id, by="order")))
    if billed is None or not WITHIN.holds(actor, billed.order.delivery_location_id):
        raise InvalidFields(errors=[FieldError("purchase_order_id", "unknown_order", "There is no such order.")])
    if not billed.rules.is_managed:
        raise CounterpartyOnly("The supplier issues its invoices itself.")
    return billed
