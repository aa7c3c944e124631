"""Orders over versions of their agreement: whatever became of these, what an order gives back is counted, and it can end."""

from datetime import date
from typing import Any

import pytest

from core.db import tenant_context
from core.errors import Busy
from core.invariants import breaches
from core.pipeline import run
from organizations.models import Organization
from suppliers.orders.limits import agreed_call, note_agreements
from suppliers.orders.models import PurchaseOrderLine
from tests.factories import Api, as_member, provision
from tests.procurement.purchasing.orders import Trade, act, submitted, ward
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.inventory.shelf import Buyer
from tests.suppliers.orders.answers import accepted, answer
from tests.suppliers.orders.changes.proposals import decide, done, items, propose, respond
from tests.suppliers.orders.test_closed_parties import close
from tests.suppliers.orders.test_reject import agree, consumed


def desk(trade: Trade) -> Api:
    """Return a client of the buyer who may negotiate."""
    return as_member(trade.buyer.tenant, ["buyer", "approver"])


def of(trade: Trade, product: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a line of an agreement."""
    named = {"product_id": product["id"], "packaging_id": product["packagings"][0]["id"]}
    return {**named, "tiers": [{"min_quantity": 1, "unit_price": "4.10"}], **changes}


def next_version(trade: Trade, key: str, *lines: dict[str, Any]) -> None:
    """Let both agree on further terms."""
    api = desk(trade)
    done(api.patch(f"{AGREEMENTS}/{key}", json={"lines": list(lines)}))
    done(api.post(f"{AGREEMENTS}/{key}/propose"))
    done(trade.shelf.api.post(f"{AGREEMENTS}/{key}/accept"))


def agreement(trade: Trade) -> str:
    """Return the id of the only agreement."""
    (one,) = desk(trade).get(AGREEMENTS).json()["data"]
    return str(one["id"])


def sound(trade: Trade) -> bool:
    """Tell whether every rule holds for both parties."""
    return not [one for tenant in (trade.buyer, trade.shelf) for one in breaches(tenant.id)]


def test_an_order_that_grew_under_a_later_version_ends_after_the_agreement(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5000)
    agree(trade, 5000)
    order = submitted(trade, (trade.gloves, 10))["id"]
    accepted(trade, order)
    key = agreement(trade)
    next_version(trade, key, of(trade, trade.gloves, max_quantity=6000))
    done(propose(trade, order, lines=[{"line_no": 1, "quantity": 15}]))
    done(decide(trade, order, "accept"))
    assert sorted(consumed(trade)[0]) == [1000, 1500]
    ended = {"notice_date": str(date.today()), "reason": "Too dear."}
    done(trade.shelf.api.post(f"{AGREEMENTS}/{key}/terminate", json=ended))

    (item,) = items(trade, order)
    done(respond(trade, order, item, cancel_quantity=11))
    assert sorted(consumed(trade)[0]) == [400, 1000]
    done(act(trade, order, "cancel"))

    assert [sorted(one) for one in consumed(trade)] == [[0, 1000]] * 2
    assert sound(trade)


def test_a_line_that_was_left_out_and_comes_back_goes_on_counting(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 5000)
    agree(trade, 10_000)
    first, second, third = (submitted(trade, (trade.gloves, packs))["id"] for packs in (40, 30, 10))
    done(propose(trade, third, lines=[{"line_no": 1, "quantity": 5}]))
    key = agreement(trade)
    next_version(trade, key, of(trade, trade.masks))
    done(act(trade, first, "cancel"))
    next_version(trade, key, of(trade, trade.masks), of(trade, trade.gloves, max_quantity=10_000))
    lines = trade.shelf.api.get(f"{AGREEMENTS}/{key}").json()["data"]["lines"]
    assert [one["consumed"] for one in lines] == [0, 4000]

    done(decide(trade, third, "accept"))
    done(answer(trade, second, "reject", reason_code="late"))

    lines = trade.shelf.api.get(f"{AGREEMENTS}/{key}").json()["data"]["lines"]
    assert [one["consumed"] for one in lines] == [0, 500]
    assert sound(trade)


def noted(trade: Trade, key: str) -> list[Any]:
    """Read the lines of agreements for a draft, as a submit does behind its prices; return what its lines name then."""
    with tenant_context(trade.buyer.id):
        lines = [*PurchaseOrderLine.objects.filter(tenant_id=trade.buyer.id, order_id=key)]
    with tenant_context(trade.shelf.id):
        (found,) = run([agreed_call(trade.shelf.id, [one.product_id for one in lines], trade.buyer.id)])
    note_agreements(lines, found)
    return [one.agreement["line_no"] for one in lines]


def test_a_version_that_ends_behind_the_price_refuses_the_submit(trade: Trade) -> None:
    agree(trade, 5000)
    key, draft = agreement(trade), trade.draft((trade.gloves, 10))["id"]
    assert noted(trade, draft) == [1]

    done(trade.shelf.api.patch(f"{AGREEMENTS}/{key}", json={"status": "suspended"}))
    with pytest.raises(Busy):
        noted(trade, draft)

    done(trade.shelf.api.patch(f"{AGREEMENTS}/{key}", json={"status": "active"}))
    assert noted(trade, draft) == [1]
    next_version(trade, key, of(trade, trade.masks))
    with pytest.raises(Busy):
        noted(trade, draft)


def test_an_agreement_of_a_closed_tenant_hinders_its_sisters_in_nothing(trade: Trade) -> None:
    agree(trade, 5000)
    key, own = agreement(trade), trade.buyer.tenant
    done(desk(trade).patch(f"{AGREEMENTS}/{key}", json={"scope": "organization"}))
    done(desk(trade).post(f"{AGREEMENTS}/{key}/propose"))
    done(trade.shelf.api.post(f"{AGREEMENTS}/{key}/accept"))
    tenant = provision("provider", under=Organization.objects.get(pk=own.organization_id))
    buyer = Buyer(tenant, as_member(tenant, ("buyer",)))
    sister = Trade(trade.shelf, buyer, ward(buyer), trade.gloves, trade.masks)
    first, second, third = (submitted(sister, (trade.gloves, 10)) for _ in range(3))
    assert first["lines"][0]["snapshot"]["price_source"] == "contract"
    draft = sister.draft((trade.gloves, 10))["id"]

    close(own)

    done(act(sister, first["id"], "cancel"))
    done(answer(sister, second["id"], "reject", reason_code="late"))
    done(propose(sister, third["id"], lines=[{"line_no": 1, "quantity": 5}]))
    trade.shelf.stock(trade.gloves, 5000)
    done(decide(sister, third["id"], "accept"))
    assert act(sister, draft, "submit").json()["code"] == "price_changed"
    again = submitted(sister, (trade.gloves, 10))
    assert again["lines"][0]["snapshot"]["price_source"] == "offer"
    assert sound(sister)
