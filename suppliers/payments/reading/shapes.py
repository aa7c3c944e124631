"""What a tenant has of payments, as one table: its payments as buyer, and its copies as supplier.

Every row has the columns of a payment; `side` is the tenant's own side. What a copy shows stands in its JSON. The buyer's
own members are null in copies.
"""

from collections.abc import Mapping
from typing import Final

from api.shapes import Selection, Shape
from api.unions import union_of
from core.conditions import TENANT, Condition
from suppliers.payments.finding import PLACE
from suppliers.payments.models import Payment
from suppliers.payments.representations import CreditSourceOut, PaymentAllocationOut

# A member with places sees payments of which all orders go there; copies name no places, so the supplier's members see all.
WITHIN: Final = Condition(
    "NOT EXISTS (SELECT 1 FROM (SELECT e.value::uuid AS location_id FROM jsonb_array_elements_text(t.location_ids) AS e(value)) u"
    f" WHERE NOT ({PLACE.over('u').sql}))"
)  # fmt: skip
_SHARED: Final = ("id", "tenant_id", "status", "version", "updated_at", "number", "currency", "value_date")
_TEXTS: Final = ("method", "remittance_text")
_TIMES: Final = ("succeeded_at", "ended_at")
_PRIVATE: Final = {
    "provider_reference": "''::text", "bank_account": "''::text", "created_by_id": "NULL::uuid",
    "confirmed_by_id": "NULL::uuid",
}  # fmt: skip


def _member(name: str, kind: str) -> str:
    return f"(c.representation ->> '{name}')::{kind}"


def _listed(shape: Shape) -> str:
    """Write the SQL of the parts of a payment `a`, as JSON."""
    return (
        f"(SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]') FROM (SELECT s.* FROM {shape.table} t"
        f" CROSS JOIN LATERAL (SELECT {shape.select(Selection())}) s"
        f" WHERE t.tenant_id = {TENANT} AND t.payment_id = a.id ORDER BY t.position, t.id) r)"
    )


# By column, the SQL of a payment `a`, and of a copy `c`.
_NAMED: Final = {
    "side": ("'buyer'", "'supplier'"),
    "supplier_tenant_id": ("a.supplier_tenant_id", "c.tenant_id"),
    "buyer_tenant_id": ("a.tenant_id", "c.owner_tenant_id"),
    "amount": ("a.amount", _member("amount", "numeric")),
    "created_at": ("a.created_at", "c.received_at"),
    "location_ids": ("a.location_ids", "'[]'::jsonb"),
    "failure_code": ("a.failure_code", "coalesce(c.representation -> 'failure' ->> 'code', '')"),
    "failure_message": ("a.failure_message", "coalesce(c.representation -> 'failure' ->> 'message', '')"),
    "allocations": (_listed(PaymentAllocationOut.shape), "c.representation -> 'allocations'"),
    "credit_sources": (_listed(CreditSourceOut.shape), "c.representation -> 'credit_sources'"),
}  # fmt: skip


def _columns() -> Mapping[str, tuple[str, str]]:
    """Return each column's SQL, of a payment and of a copy."""
    found = {name: (f"a.{name}", f"c.{name}") for name in _SHARED}
    found |= {name: (f"a.{name}", f"coalesce({_member(name, 'text')}, '')") for name in _TEXTS}
    found |= {name: (f"a.{name}", _member(name, "timestamptz")) for name in _TIMES}
    found |= {name: (f"a.{name}", absent) for name, absent in _PRIVATE.items()}
    return found | _NAMED


_TABLES: Final = ("suppliers_payment a", "suppliers_receivedpayment c")


ROWS: Final = union_of(Payment, _columns(), _TABLES, texts=("side",))
