"""Changes that meet at once, limits after any course of changes, and what a change costs in trips."""

from random import Random
from typing import Any

import pytest

from bench.statements import recording
from tests import races
from tests.factories import Api, as_member
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, Trade, approver
from tests.suppliers.agreements.world import PATH as AGREEMENTS
from tests.suppliers.orders.answers import ORDERS, seen
from tests.suppliers.orders.changes.proposals import (
    changes,
    check_limits,
    confirm,
    counter,
    decide,
    done,
    items,
    propose,
    respond,
    sent,
)

CODES = {None, "invalid_transition", "concurrent_update", "revision_changed"}


def seller(trade: Trade) -> Api:
    """Return a further client of the supplier, for a thread of its own."""
    api = Api()
    api.headers = trade.shelf.api.headers
    return api


def raced(trade: Trade, *works: Any) -> list[int]:
    """Run actions at once; one is taken at least, each other one is refused for a reason that says so."""
    found = races.race(*works)
    assert {one.json().get("code") for one in found} <= CODES, [one.content for one in found]
    trade.stored()
    return sorted(one.status_code for one in found)


def ready(trade: Trade) -> str:
    """Return an order with a budget, and stock for it."""
    put_budget(approver(trade), "wards", amount="1000")
    trade.shelf.stock(trade.gloves, 5_000)
    key: str = sent(trade, budget={"code": "wards"})["id"]
    return key


def test_an_acceptance_against_a_withdrawal(trade: Trade) -> None:
    key = ready(trade)
    done(propose(trade, key, lines=[{"line_no": 1, "quantity": 20}]))
    other, own = seller(trade), trade.buyer.client()
    given = {"revision": 2, "decision": "accept"}

    statuses = raced(
        trade,
        lambda: other.post(f"{ORDERS}/{key}/accept", json=given),
        lambda: own.post(f"{PATH}/{key}/confirm-changes", json={"revision": 2, "decision": "withdraw"}),
    )

    assert statuses == [200, 409]
    state = changes(trade)[0][1]
    assert trade.read(key)["status"] == {"accepted": "accepted", "withdrawn": "sent"}[state]
    check_limits(trade, key)


def test_a_change_against_an_acceptance(trade: Trade) -> None:
    key = ready(trade)
    other, own = seller(trade), trade.buyer.client()
    body = {"revision": 1, "reason": "More", "lines": [{"line_no": 1, "quantity": 20}]}

    statuses = raced(
        trade,
        lambda: other.post(f"{ORDERS}/{key}/accept", json={}),
        lambda: own.post(f"{PATH}/{key}/propose-changes", json=body),
    )

    assert statuses in ([200, 409], [200, 200])
    check_limits(trade, key)


def test_two_confirmations_accept_once(trade: Trade) -> None:
    key = ready(trade)
    (first,) = items(trade, key)
    done(respond(trade, key, first, accepted_quantity=8))
    clients = [trade.buyer.client() for _ in range(3)]
    body = {"revision": 2, "decision": "accept"}

    statuses = raced(trade, *[lambda api=api: api.post(f"{PATH}/{key}/confirm-changes", json=body) for api in clients])

    assert statuses == [200, 409, 409]
    assert [kind for kind, *_ in trade.facts(trade.shelf.tenant)].count("order.accepted") == 1
    check_limits(trade, key)


def test_answers_to_two_items_at_once_are_both_kept_or_refused(trade: Trade) -> None:
    key = sent(trade, (trade.gloves, 10), (trade.masks, 10))["id"]
    lines = items(trade, key)
    body = {"reason_code": "other", "accepted_quantity": 5}
    pairs = [(seller(trade), line) for line in lines]

    statuses = raced(
        trade,
        *[lambda api=api, line=line: api.patch(f"{ORDERS}/{key}/items/{line}", json=body) for api, line in pairs],
    )

    assert len(seen(trade, key)["change"]["lines"]) == statuses.count(200)


def agreed(trade: Trade) -> None:
    """Let both agree on a price of gloves, for at most 4,000 of them."""
    api = as_member(trade.buyer.tenant, ["buyer", "approver"])
    line = {
        "product_id": trade.gloves["id"], "packaging_id": trade.gloves["packagings"][0]["id"], "max_quantity": 4_000,
        "tiers": [{"min_quantity": 1, "unit_price": "4.10"}],
    }  # fmt: skip
    made = api.post(
        AGREEMENTS,
        json={
            "title": "Gloves", "scope": "tenant", "currency": "EUR", "valid_from": "2026-01-01", "valid_to": "2030-01-01",
            "supplier_id": str(trade.shelf.id), "lines": [line],
        },
    )  # fmt: skip
    assert made.status_code == 201, made.content
    key = made.json()["data"]["id"]
    assert api.post(f"{AGREEMENTS}/{key}/propose").status_code == 200
    assert trade.shelf.api.post(f"{AGREEMENTS}/{key}/accept").status_code == 200


@pytest.mark.parametrize("seed", range(6))
def test_limits_are_what_the_lines_need_after_any_course_of_changes(trade: Trade, seed: int) -> None:
    chance = Random(seed)
    agreed(trade)
    put_budget(approver(trade), "wards", amount="400")
    trade.shelf.stock(trade.gloves, 9_000)
    trade.shelf.stock(trade.masks, 900)
    key = sent(trade, (trade.gloves, 10), (trade.masks, 30), budget={"code": "wards"})["id"]
    taken = 0
    for _ in range(14):
        line = chance.choice(items(trade, key))
        number = chance.randint(1, 60)
        less, more = {"line_no": 1, "quantity": chance.randint(1, 60)}, {"line_no": 2, "cancel_quantity": 1}
        other = {"product_id": trade.masks["id"], "quantity": number, "unit_price": "0.50"}
        found = chance.choice(
            [
                lambda: propose(trade, key, lines=[less]),
                lambda: propose(trade, key, lines=[less, more]),
                lambda: propose(trade, key, add_lines=[{"product_id": trade.gloves["id"], "quantity": number}]),
                lambda: confirm(trade, key, "accept"),
                lambda: confirm(trade, key, "withdraw"),
                lambda: decide(trade, key, "accept", allow_partial=True),
                lambda: decide(trade, key, "decline"),
                lambda: respond(trade, key, line, cancel_quantity=1),
                lambda: respond(trade, key, line, accepted_quantity=3),
                lambda: counter(trade, key, {"item_id": line, "substitute": other}),
            ]
        )()
        assert found.status_code in (200, 400, 409), found.content
        taken += found.status_code == 200
        trade.stored()
        check_limits(trade, key)
    assert taken
    if trade.read(key)["status"] not in ("cancelled", "accepted"):
        trade.api.post(f"{PATH}/{key}/cancel", json={})
    check_limits(trade, key)


def test_trips_do_not_grow_with_the_lines(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="100000")
    trade.shelf.stock(trade.gloves, 90_000)
    trade.shelf.stock(trade.masks, 90_000)
    counts = []
    for many in (1, 40):
        goods = [(trade.gloves, 20), (trade.masks, 3)] * many
        for _ in range(2):  # the first time plans are made
            made: list[int] = []

            def counted(work: Any, made: list[int] = made) -> None:
                with recording() as found:
                    done(work())
                made.append(len(found))

            key = sent(trade, *goods, budget={"code": "wards"})["id"]
            lines = items(trade, key)
            revision = trade.read(key)["revision"]
            other = {"product_id": trade.masks["id"], "quantity": 2, "unit_price": "0.40"}
            answers = [{"item_id": one, "accepted_quantity": 2} for one in lines]
            answers[0] |= {"substitute": other}
            counted(lambda: counter(trade, key, *answers))
            counted(
                lambda: trade.api.post(
                    f"{PATH}/{key}/confirm-changes", json={"revision": revision + 1, "decision": "accept"}
                )
            )
            changed = [{"line_no": number, "quantity": 21} for number in range(1, len(lines) + 1)]
            body = {
                "revision": revision + 1,
                "reason": "More",
                "lines": changed,
                "add_lines": [{"product_id": trade.gloves["id"], "quantity": 1}],
            }
            counted(lambda: trade.api.post(f"{PATH}/{key}/propose-changes", json=body))
            given = {"revision": revision + 2, "decision": "accept"}
            counted(lambda: trade.shelf.api.post(f"{ORDERS}/{key}/accept", json=given))
            counted(lambda: respond(trade, key, lines[0], cancel_quantity=1))
        counts.append(made)

    assert counts[0] == counts[1]
    proposed, confirmed, changed_by_buyer, accepted, answered = counts[0]
    assert proposed <= 6, counts
    assert max(confirmed, changed_by_buyer) <= 8, counts
    assert accepted <= 6, counts
    assert answered <= 7, counts
    assert amounts(trade.buyer.tenant)["wards"][0] > 0
