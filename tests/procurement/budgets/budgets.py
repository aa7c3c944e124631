"""Bodies of budgets, and short ways to make and read them."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from core.actor import Actor, system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from core.invariants import breaches
from ledger.public import Event
from organizations.models import Tenant
from procurement.budgets.commitments import Hold
from procurement.budgets.models import Budget, BudgetEntry
from tests.factories import Api

PATH = "/v1/procurement/budgets"


def body(**changes: Any) -> dict[str, Any]:
    """Return the smallest budget: 1,000 euros, for any day of these tests."""
    return {
        "name": "Wards", "amount": "1000", "currency": "EUR", "valid_from": "2020-01-01", "valid_to": "2999-01-01",
    } | changes  # fmt: skip


def put(api: Api, code: str = "a", *, headers: dict[str, str] | None = None, **changes: Any) -> Any:
    """Put a budget."""
    return api.put(f"{PATH}/{code}", json=body(**changes), headers=headers or {})


def made(api: Api, buyer: Tenant, code: str = "a", **changes: Any) -> Hold:
    """Put a budget; return the hold of a new document on it."""
    answer = put(api, code, **changes)
    assert answer.status_code in (200, 201), answer.content
    return Hold(buyer.id, UUID(answer.json()["data"]["id"]), uuid7(), "4711")


def listed(api: Api, query: str = "") -> list[dict[str, Any]]:
    """Return the budgets of a list."""
    answer = api.get(f"{PATH}?{query}")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


def codes(api: Api, query: str = "") -> list[str]:
    """Return the codes of a list, in their order."""
    return [one["code"] for one in listed(api, query)]


def step(work: Any, hold: Hold, *arguments: Any, **named: Any) -> Any:
    """Run a step of a document in a transaction of its own, bound to the buyer."""
    actor: Actor = system_actor(hold.tenant_id)
    with tenant_context(hold.tenant_id):
        return work(actor, hold, *arguments, now(), **named)


def amounts(buyer: Tenant) -> dict[str, tuple[Decimal, Decimal]]:
    """Return what is committed and spent of each budget, by its code; every rule holds."""
    assert list(breaches(buyer.id)) == []
    with tenant_context(buyer.id):
        rows = Budget.objects.filter(tenant_id=buyer.id)
        return {row.code: (row.committed.normalize(), row.spent.normalize()) for row in rows}


def entries(buyer: Tenant) -> list[tuple[UUID, str, Decimal, Decimal, int]]:
    """Return the entries: document, cost centre, committed, spent, version."""
    with tenant_context(buyer.id):
        rows = BudgetEntry.objects.filter(tenant_id=buyer.id).order_by("created_at", "id")
        return [
            (row.document_id, row.cost_center, row.committed.normalize(), row.spent.normalize(), row.version)
            for row in rows
        ]


def facts(buyer: Tenant) -> list[tuple[str, int | None, dict[str, Any]]]:
    """Return what the buyer was told of budgets: type, version, payload."""
    with tenant_context(buyer.id):
        rows = Event.objects.filter(tenant_id=buyer.id, resource_type="budget").order_by("occurred_at", "id")
        return [(row.type, row.resource_version, row.data) for row in rows]


def stored(buyer: Tenant) -> list[tuple[str, int, str]]:
    """Return code, version and name of each budget."""
    with tenant_context(buyer.id):
        rows = Budget.objects.filter(tenant_id=buyer.id).order_by("code")
        return list(rows.values_list("code", "version", "name"))


def D(text: Any) -> Decimal:  # as short as a number
    return Decimal(text)


def reached(buyer: Tenant) -> int:
    """How often the buyer was told of a threshold."""
    return sum(kind == "budget.threshold_reached" for kind, _, _ in facts(buyer))


def another(hold: Hold, cost_center: str = "") -> Hold:
    """The hold of another document on the same budget."""
    return hold._replace(document_id=uuid7(), cost_center=cost_center)
