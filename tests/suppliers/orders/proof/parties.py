"""Strangers who try every address of an order, and everything that a tenant can ever be told."""

from typing import Any

from django.apps import apps

from core.db import tenant_context
from core.ids import uuid7
from tests.factories import Api
from tests.procurement.purchasing.orders import PATH
from tests.suppliers.deliveries.shipping import DELIVERIES
from tests.suppliers.exchange.network import LD_JSON, XML
from tests.suppliers.orders.answers import ORDERS

AT = "2026-11-01T08:00:00Z"
_CHANGE = {"revision": 1, "reason": "Need", "lines": [{"line_no": 1, "quantity": 2}]}
_SELLER: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("GET", "", None), ("GET", "/items", None), ("POST", "/accept", {}), ("POST", "/reject", {"reason_code": "late"}),
    ("PATCH", "/items/{line}", {"reason_code": "other", "accepted_quantity": 1}),
    ("POST", "/shipments", {"from_location_id": "{other}", "dispatched_at": AT,
                            "lines": [{"order_line_id": "{line}", "quantity": 1}]}),
    ("PATCH", "/shipments/{delivery}", {"status": "delivered"}),
)  # fmt: skip
_BUYER: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("GET", "", None), ("PATCH", "", {"internal_note": "Mine"}), ("POST", "/submit", {}),
    ("POST", "/approve", {"revision": 1}), ("POST", "/reject", {"revision": 1, "reason": "No"}),
    ("POST", "/confirm-changes", {"revision": 1, "decision": "accept"}), ("POST", "/propose-changes", _CHANGE),
    ("POST", "/cancel", {}), ("POST", "/close", {}),
)  # fmt: skip


def put(value: Any, names: dict[str, str]) -> Any:
    """Return a path or a body with ids in the places of their names."""
    if isinstance(value, dict):
        return {key: put(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [put(one, names) for one in value]
    return value.format(**names) if isinstance(value, str) else value


def asked(api: Api, of: str, order: str, line: str, delivery: str) -> list[tuple[str, Any]]:
    """Ask for every action of a side (`seller`, `buyer`), and for a delivery; return names with answers."""
    names = {"line": line, "delivery": delivery, "other": str(uuid7())}
    base, acts = (ORDERS, _SELLER) if of == "seller" else (PATH, _BUYER)
    found = []
    for method, tail, body in acts:
        path = f"{base}/{order}{tail.format(**names)}"
        found.append((f"{method} {tail or '/'}", api.call(method, path, json=put(body, names))))
    found += [
        (f"{media} {path}", api.get(path, headers={"Accept": media}))
        for media in (XML, LD_JSON)
        for path in (f"{base}/{order}", f"{DELIVERIES}/{delivery}")
    ]
    return [*found, ("delivery", api.get(f"{DELIVERIES}/{delivery}"))]


def lists(api: Api, of: str) -> list[Any]:
    """Return the answers of all lists of a side that may name an order or a delivery."""
    base = ORDERS if of == "seller" else PATH
    return [api.get(path) for path in (base, f"{base}?search=PO", DELIVERIES)]


def kept(tenant: Any) -> str:
    """Return all rows of a tenant as text: copies, events with the payloads of webhooks, notifications, timelines."""
    texts = []
    with tenant_context(tenant.id):
        for model in apps.get_models():
            names = {one.attname for one in model._meta.concrete_fields}
            if "tenant_id" in names and model._meta.managed:
                texts += [str(row) for row in model._default_manager.filter(tenant_id=tenant.id).values()]
    return "\n".join(texts)
