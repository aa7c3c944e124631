"""What strangers, and the parties themselves, may ask about invoices, payments and returns."""

from typing import Any, Final

from core.ids import uuid7
from tests.factories import Api
from tests.suppliers.exchange.network import LD_JSON, XML
from tests.suppliers.orders.proof.parties import put

BILLS, PAYMENTS, RETURNS = (f"/v1/procurement/{one}" for one in ("invoices", "payments", "returns"))
KINDS: Final = (
    "invoice", "payment", "return", "order", "line", "delivery", "delivered", "return_line", "location",
)  # fmt: skip
Act = tuple[str, str, dict[str, Any] | None]
READS: Final[tuple[str, ...]] = (f"{BILLS}/{{invoice}}", f"{PAYMENTS}/{{payment}}", f"{RETURNS}/{{return}}")
_PART = {"invoice_id": "{invoice}", "amount": "1.00"}
BUYERS: Final[tuple[Act, ...]] = (
    ("POST", f"{BILLS}/{{invoice}}/match", None),
    ("POST", f"{BILLS}/{{invoice}}/approve", {"override_reason": "Mine"}),
    ("POST", f"{BILLS}/{{invoice}}/dispute", {"reason_code": "price"}),
    ("POST", f"{BILLS}/{{invoice}}/reject", {"reason": "No"}),
    ("POST", PAYMENTS, {"supplier_id": "{supplier}", "amount": "1.00", "currency": "EUR", "allocations": [_PART]}),
    ("POST", PAYMENTS, {"supplier_id": "{supplier}", "amount": "1.00", "currency": "EUR", "method": "offset",
                        "allocations": [_PART], "credit_sources": [_PART]}),
    ("POST", f"{PAYMENTS}/{{payment}}/confirm", {"status": "processing"}),
    ("POST", f"{PAYMENTS}/{{payment}}/cancel", {"reason": "Twice"}),
    ("POST", RETURNS, {"delivery_id": "{delivery}", "lines": [
        {"delivery_line_id": "{delivered}", "quantity": 1, "unit": "base", "reason_code": "quality"}]}),
    ("POST", f"{RETURNS}/{{return}}/ship", {"carrier": "DHL"}),
    ("POST", f"{RETURNS}/{{return}}/cancel", None),
)  # fmt: skip
SELLERS: Final[tuple[Act, ...]] = (
    ("POST", "/v1/orders/{order}/invoices", {"invoice_number": "X-1", "issue_date": "2026-11-03", "lines": [
        {"order_line_id": "{line}", "quantity": 1, "unit": "base", "unit_price": "1"}]}),
    ("POST", "/v1/orders/{order}/invoices", {
        "invoice_number": "X-2", "issue_date": "2026-11-03", "type": "credit_note", "original_invoice_id": "{invoice}",
        "lines": [{"order_line_id": "{line}", "quantity": 1, "unit": "base", "unit_price": "1"}]}),
    ("POST", f"{BILLS}/{{invoice}}/cancel", {"reason": "Wrong"}),
    ("POST", f"{RETURNS}/{{return}}/authorize", {}),
    ("POST", f"{RETURNS}/{{return}}/receive", {"location_id": "{location}"}),
    ("POST", f"{RETURNS}/{{return}}/inspect", {
        "lines": [{"return_line_id": "{return_line}", "disposition": "quarantine"}], "credit_note_number": "X-3"}),
)  # fmt: skip
_TALK: Final[tuple[Act, ...]] = tuple(
    ("POST", "/v1/notifications", {"resource": {"type": kind, "id": f"{{{kind}}}"}, "body": "Whose is it?"})
    for kind in ("order", "delivery", "invoice", "return")
)
LISTS: Final[tuple[str, ...]] = (
    *(f"{base}{query}" for base in (BILLS, PAYMENTS, RETURNS) for query in ("", "?search=I", "?sort=updated_at")),
    f"{BILLS}?purchase_order_id={{order}}", "/v1/notifications", "/v1/notifications/alerts",
)  # fmt: skip


def nothing(names: dict[str, str]) -> dict[str, str]:
    """Return the names with ids that are nowhere; the supplier stays."""
    return names | {kind: str(uuid7()) for kind in KINDS}


def asked(api: Api, acts: tuple[Act, ...], names: dict[str, str]) -> list[tuple[str, Any]]:
    """Ask for acts by ids; return their names with the answers."""
    return [
        (f"{method} {path}", api.call(method, put(path, names), json=put(body, names))) for method, path, body in acts
    ]


def read(api: Api, names: dict[str, str]) -> list[tuple[str, Any]]:
    """Read each document in every media type."""
    return [
        (f"{media} {path}", api.get(path.format(**names), headers={"Accept": media}))
        for path in READS
        for media in (XML, LD_JSON, "application/json")
    ]


def told(api: Api, names: dict[str, str]) -> list[tuple[str, int, str]]:
    """Ask for everything as a stranger; return status and text of each answer, without what the question has named."""
    found = []
    for name, answer in [*read(api, names), *asked(api, (*BUYERS, *SELLERS, *_TALK), names)]:
        text = answer.text
        for kind in KINDS:
            text = text.replace(names[kind], kind)
        for header in ("X-Request-Id",):
            text = text.replace(answer.headers[header], "")
        found.append((name, answer.status_code, text))
    return found


def listed(api: Api, names: dict[str, str]) -> list[Any]:
    """Return the answers of all lists in which the documents could stand."""
    return [api.get(path.format(**names)) for path in LISTS]
