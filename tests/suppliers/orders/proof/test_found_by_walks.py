"""What random walks have found, each as short as it can be told. Source: decision 123."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests import factories
from tests.suppliers.orders.proof.fair import RETURNS, asked, billing, fair
from tests.suppliers.orders.proof.stages import Stage, done, stage

ZERO = Decimal(0)


@pytest.fixture
def at() -> Stage:
    """Return parties that trade in euros."""
    return stage()


def credited(at: Stage, order: UUID, invoice: str, *lines: dict[str, Any]) -> Any:
    """Let the supplier issue a credit note."""
    return at.fair.bill(order, *lines, type="credit_note", original_invoice_id=invoice)


def test_what_lines_of_a_return_are_credited_has_the_decimals_of_their_currency() -> None:
    """Two deliveries go on one line of an invoice; each has its part of what the note gives for it."""
    made = fair(houses=1, currencies=("CLF",))
    at = Stage(made, made.buyers[0])
    order = UUID(done(made.order(at.house, "CLF", 2))["id"])
    lines = [
        {"order_line_id": str(at.house.lines(order)[0].id), "unit": "base", "quantity": units} for units in (7, 17)
    ]
    body = {"from_location_id": made.depot, "lines": lines, "dispatched_at": "2026-11-01T08:00:00Z"}
    done(made.seller(order, "shipments", **body))
    delivery = at.house.deliveries("in_transit")[-1].id
    at.take(delivery, 7, 17)
    line = billing(at.house.lines(order)[0], 24, unit_price="0.11115", tax_category="Z", tax_rate="0")
    done(made.bill(order, line))
    back = [
        {"delivery_line_id": str(one.id), "quantity": one.base_quantity, "unit": "base", "reason_code": "quality"}
        for one in at.house.goods(delivery)
    ]
    key = done(at.house.trade.api.post(RETURNS, json={"delivery_id": str(delivery), "lines": back}))["id"]
    for api, action, more in (
        (made.shelf.api, "authorize", {}), (at.house.trade.api, "ship", {}),
        (made.shelf.api, "receive", {"location_id": made.apart}),
    ):  # fmt: skip
        done(asked(api, RETURNS, key, action, **more))
    given = [{"return_line_id": str(one.id), "disposition": "destroy"} for one in at.house.returned(UUID(key))]

    found = done(
        asked(made.shelf.api, RETURNS, key, "inspect", lines=given, credit_note_number=f"C-{factories.suffix()}")
    )

    assert [one["credited_amount"] for one in found["lines"]] == ["0.0648", "0.1575"]
    at.sound()
