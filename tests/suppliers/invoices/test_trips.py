"""How often writes of invoices go to PostgreSQL: never more for more lines, more invoices or files."""

from typing import Any

import pytest

from bench.statements import recording
from core.ids import uuid7
from tests.suppliers.invoices.bills import PATH, Desk
from tests.suppliers.notifications.test_messages import a_file

# The answer is kept with the key in the trip that commits, beside the four of an action.
MOST = {"issue": 8, "credit": 8} | dict.fromkeys(("match", "approve", "dispute", "withdraw", "reject", "cancel"), 5)


def trips(api: Any, path: str, body: dict[str, Any], status: int = 200) -> int:
    """Return how many trips a write takes, its idempotency key and its commit included."""
    with recording() as made:
        answer = api.post(path, json=body, headers={"Idempotency-Key": str(uuid7())})
    assert answer.status_code == status, answer.content
    return len(made.trips)


def taken(desk: Desk, lines: int) -> dict[str, int]:
    """Take every step once with so many lines and other invoices; return its trips."""
    order = desk.arrived(100)
    for _ in range(lines - 1):
        desk.issue(order, 1)
    files = [a_file(desk.dock.shelf.tenant) for _ in range(lines)]
    path, found = f"/v1/orders/{order['id']}/invoices", dict[str, int]()
    body = desk.body(order, *[2] * lines, file_ids=files)
    found["issue"] = trips(desk.supplier, path, body, 201)
    newest = desk.dock.trade.read(order["id"])["invoices"][0]["id"]
    note = {"type": "credit_note", "original_invoice_id": newest}
    found["credit"] = trips(desk.supplier, path, desk.body(order, *[1] * lines, **note), 201)
    steps: list[tuple[str, Any, str, dict[str, Any]]] = [
        ("match", desk.clerk, "match", {}), ("approve", desk.approver, "approve", {}),
        ("dispute", desk.clerk, "dispute", {"reason_code": "price"}), ("withdraw", desk.clerk, "dispute", {"withdraw": True}),
        ("reject", desk.clerk, "reject", {"reason": "No"}),
    ]  # fmt: skip
    for name, api, action, given in steps:
        found[name] = trips(api, f"{PATH}/{newest}/{action}", given)
    other = desk.issue(order, *[2] * lines)
    found["cancel"] = trips(desk.supplier, f"{PATH}/{other['id']}/cancel", {"reason": "No"})
    return found


def test_trips_are_few_and_do_not_grow(desk: Desk) -> None:
    one, several = taken(desk, 1), taken(desk, 5)

    assert one == several
    assert {name: count for name, count in one.items() if count > MOST[name]} == {}


@pytest.mark.parametrize("lines", [1, 4])
def test_reading_takes_one_trip(desk: Desk, lines: int) -> None:
    order = desk.arrived(60)
    made = desk.issue(order, *[2] * lines)
    for api, path in (
        (desk.clerk, f"{PATH}/{made['id']}"), (desk.supplier, f"{PATH}/{made['id']}"), (desk.clerk, PATH),
        (desk.dock.trade.api, f"/v1/purchase-orders/{order['id']}"), (desk.supplier, f"/v1/orders/{order['id']}"),
    ):  # fmt: skip
        api.get(path)
        with recording() as seen:
            assert api.get(path).status_code == 200
        assert len(seen.trips) == 1
