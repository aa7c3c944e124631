"""The queues of what needs somebody's attention in trade, over all tenants: how many stand in each, and a page of one.

What tenants are told of by alerts is counted here and shown on the page of open alerts. Source: contract, supply.md 13 point 5.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.db import role_context
from core.pipeline import Call, Statement, run
from core.row_security import DISPATCHER
from organizations.staff.roles import Area, sees
from suppliers.notifications.states import Type

PAGE: Final = 100
_ACROSS: Final = "staff see the exceptions of all tenants"


class Exceptional(NamedTuple):
    """One row of a queue; `tenant_id` is the tenant whose page of the row is to be opened."""

    tenant_id: UUID
    tenant_name: str
    row_id: UUID
    what: str
    since: datetime


class _Counted(NamedTuple):
    """How many subjects have an open alert of a type."""

    type: str
    open: int


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue; `rows` is SQL with the columns of `Exceptional`, and `page` the admin's page of such a row.

    A queue of alerts has the name of their type and no rows of its own.
    """

    name: str
    title: str
    area: Area
    rows: str = ""
    page: str = ""

    @property
    def is_of_alerts(self) -> bool:
        """Tell whether its rows are open alerts."""
        return not self.rows


def _differing() -> str:
    """Orders whose price check has found another price."""
    return (
        "SELECT o.tenant_id, n.name AS tenant_name, o.id AS row_id, o.number AS what, coalesce(o.sent_at, o.created_at) AS since"
        " FROM suppliers_purchaseorder o JOIN organizations_tenant n ON n.id = o.tenant_id"
        " WHERE o.price_differs AND o.status NOT IN ('rejected', 'cancelled', 'closed')"
    )


def _unqualified() -> str:
    """Open orders of suppliers that must not take new ones, by the suppliers' copies."""
    return (
        "SELECT o.tenant_id, n.name AS tenant_name, o.id AS row_id, o.number || ', supplier is ' || f.qualification_status AS what,"
        " o.received_at AS since FROM suppliers_supplierprofile f"
        " JOIN organizations_tenant n ON n.id = f.tenant_id"
        " JOIN suppliers_receivedorder o ON o.tenant_id = f.tenant_id AND o.status IN ('sent', 'change_proposed', 'accepted')"
        " WHERE f.qualification_status <> 'qualified'"
    )


def _broken() -> str:
    """Reservations that broke lately."""
    return (
        "SELECT r.tenant_id, n.name AS tenant_name, r.id AS row_id,"
        " CASE WHEN r.purchase_order_line_id IS NULL THEN 'promised to a buyer' ELSE 'promised to an order' END"
        " || coalesce(', ' || nullif(r.reason, ''), '') AS what, r.updated_at AS since"
        " FROM suppliers_reservation r JOIN organizations_tenant n ON n.id = r.tenant_id"
        " WHERE r.status = 'broken' AND r.updated_at > now() - interval '7 days'"
    )


def _to_inspect() -> str:
    """Returns that have come back to their suppliers, and that nobody has inspected, by the suppliers' copies."""
    return (
        "SELECT c.tenant_id, n.name AS tenant_name, c.id AS row_id, c.number AS what, c.updated_at AS since"
        " FROM suppliers_receivedreturn c JOIN organizations_tenant n ON n.id = c.tenant_id WHERE c.status = 'received'"
    )


def _billed(status: str, what: str) -> str:
    """Invoices that wait for their buyer, in a state; `what` is SQL that says why."""
    return (
        f"SELECT i.tenant_id, n.name AS tenant_name, i.id AS row_id, i.number || {what} AS what, i.updated_at AS since"
        f" FROM suppliers_invoice i JOIN organizations_tenant n ON n.id = i.tenant_id WHERE i.status = '{status}'"
    )


def _unconfirmed() -> str:
    """Payments of which nobody has said yet what the bank has made of them."""
    return (
        "SELECT p.tenant_id, n.name AS tenant_name, p.id AS row_id, p.number || ', ' || p.status AS what, p.created_at AS since"
        " FROM suppliers_payment p JOIN organizations_tenant n ON n.id = p.tenant_id"
        " WHERE p.status IN ('pending', 'processing')"
    )


QUEUES: Final = (
    Queue(Type.ACCEPTANCE_OVERDUE.value, "Orders that their suppliers have not answered in time", Area.CATALOG),
    Queue(Type.APPROVAL_OVERDUE.value, "Orders that nobody has approved in time", Area.CATALOG),
    Queue("price_differs", "Orders whose supplier reports another price", Area.CATALOG, _differing(), "suppliers_purchaseorder_change"),
    Queue("unqualified_supplier", "Open orders of suppliers that are not qualified", Area.CATALOG, _unqualified(), "suppliers_receivedorder_change"),
    Queue("broken_reservation", "Reservations that broke in the last seven days", Area.CATALOG, _broken(), "suppliers_reservation_change"),
    Queue(
        "match_exception", "Invoices that do not match", Area.BILLING, _billed("mismatched", "', order ' || i.po_number"),
        "suppliers_invoice_change",
    ),
    Queue(
        "dispute", "Invoices under query", Area.BILLING, _billed("disputed", "', ' || i.dispute_reason"), "suppliers_invoice_change",
    ),
    Queue("return_to_inspect", "Returns to inspect", Area.BILLING, _to_inspect(), "suppliers_receivedreturn_change"),
    Queue("payment_to_confirm", "Payments to confirm", Area.BILLING, _unconfirmed(), "suppliers_payment_change"),
    Queue(Type.SUSPECT_GOODS.value, "Suspect goods", Area.CATALOG),
    Queue(Type.TEMPERATURE_EXCURSION.value, "Goods that were too warm or too cold", Area.CATALOG),
    Queue(Type.LICENSE_EXPIRING.value, "Licences that expire", Area.CATALOG),
    Queue(Type.PROOF_FAILED.value, "Proofs of invariants that failed", Area.SECURITY),
)  # fmt: skip
_ALERTS: Final = Statement.of(
    "SELECT o.type, count(DISTINCT o.resource_id) AS open FROM suppliers_openalert o GROUP BY o.type",
    row=_Counted,
    across=_ACROSS,
)
_COUNTS: Final = {
    one.name: Statement.of(f"SELECT count(*)::text FROM ({one.rows}) q", across=_ACROSS) for one in QUEUES if one.rows
}
_ROWS: Final = {
    one.name: Statement.of(
        f"SELECT q.* FROM ({one.rows}) q ORDER BY q.since, q.row_id LIMIT {PAGE + 1} OFFSET $1::bigint",
        row=Exceptional,
        across=_ACROSS,
    )
    for one in QUEUES
    if one.rows
}


def seen_by(user: Any) -> list[Queue]:
    """Return the queues of the areas that the role of a member of staff sees."""
    return [one for one in QUEUES if sees(user, one.area)]


def counts(queues: list[Queue]) -> list[tuple[Queue, int]]:
    """Return how many rows stand in each queue; subjects of alerts count once, whoever is told of them."""
    own = [one for one in queues if not one.is_of_alerts]
    with role_context(DISPATCHER):
        alerts, *found = run([Call(_ALERTS, []), *(Call(_COUNTS[one.name], []) for one in own)])
    numbers = {one.type: one.open for one in alerts.of(_Counted)}
    numbers |= {one.name: int(rows.value() or 0) for one, rows in zip(own, found, strict=True)}
    return [(one, numbers.get(one.name, 0)) for one in queues]


def rows_of(queue: Queue, skipped: int) -> list[Exceptional]:
    """Return a page of a queue that is not of alerts, the oldest first, with one more if there is a next page."""
    with role_context(DISPATCHER):
        (found,) = run([Call(_ROWS[queue.name], [str(skipped)])])
        return found.of(Exceptional)
