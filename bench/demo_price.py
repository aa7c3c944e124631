"""The story of the price both agreed on in `./dev demo`: from a supplier's list to an agreement that two parties negotiate.

A supplier offers a product to two hospitals, keeps a list for one of them, and runs a promotion. Supplier and hospital negotiate an
agreement: a draft that only its author sees, a proposal that is declined, a counter-draft, an acceptance, a next version. The
hospital's catalog and quote change with each step and say why; the other hospital never sees a sign of it; the webhooks of
both tell it.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from bench.demo_care import person
from bench.demo_http import Caller, DemoFailed, expect, listen, once, step, wait_until
from bench.receiver import Receiver

LIST_PRICE, HOSPITAL_PRICE = "12.50", "11.90"
PROMOTED = {"hospital": "11.662", "other": "12.25"}  # two percent off
PROPOSED, COUNTERED, NEXT = "10.50", "9.80", "9.60"
CAP = 1_000  # base units
UNITS_PER_PACK = 10
EVENTS = (
    "price_agreement.proposed",
    "price_agreement.declined",
    "price_agreement.activated",
    "price_agreement.superseded",
)


@dataclass
class Market:
    """Who walks the story, and what it is about; `mark` is a word that only this walk's product has."""

    supplier: Caller
    buyer: Caller
    approver: Caller
    stranger: Caller
    mark: str
    tenants: dict[str, Any]
    product: dict[str, Any]

    @property
    def supplier_id(self) -> str:
        """The tenant of the supplier."""
        return str(self.tenants["supplier"]["id"])

    @property
    def hospital_id(self) -> str:
        """The tenant of the hospital."""
        return str(self.tenants["hospital"]["id"])


def walk_price(demo: dict[str, Any]) -> None:
    """Walk the story with the supplier's key, the hospital's buyer and approver, and the other hospital's buyer.

    :raises DemoFailed: a step did not end as it should.
    """
    tenants = demo["tenants"]
    key = {"X-API-Key": demo["api_keys"]["supplier"], "X-Tenant-Id": tenants["supplier"]["id"]}
    supplier, admin = Caller(demo["base_url"], key), person(demo, "tenant_admin")
    people = person(demo, "buyer"), person(demo, "approver"), person(demo, "other_buyer")
    market = Market(supplier, *people, secrets.token_hex(4), tenants, {})
    with Receiver() as receiver:
        endpoints = [
            (one, listen(one, receiver, "price_agreement.*", "promotion.*", "budget.*")) for one in (supplier, admin)
        ]
        offer(market)
        list_and_promote(market)
        declined = propose_and_decline(market)
        agreed = counter_and_accept(market)
        keep_to_cap(market, agreed)
        supersede(market, agreed)
        keep_out(market, agreed)
        plan(market)
        hear(receiver, market, declined, agreed)
        end(market, agreed)
        for one, endpoint in endpoints:
            expect(one.call("DELETE", f"/v1/webhooks/{endpoint}", **once()), 204, "delete the endpoint")


def offer(market: Market) -> None:
    """Offer a product with a list price to both hospitals."""
    pack = {"level": "case", "name": "Case of 10", "units_per_pack": UNITS_PER_PACK, "orderable": True}
    body = {
        "supplier_sku": f"PRICE-{market.mark}",
        "name": f"Surgical drape {market.mark}",
        "category": "consumables",
        "kind": "consumable",
        "base_unit": "EA",
        "packagings": [pack],
        "status": "active",
    }
    market.product = expect(market.supplier.call("POST", "/v1/products", body, **once()), 201, "create a product")[
        "data"
    ]
    tiers = [{"min_quantity": 1, "unit_price": LIST_PRICE}]
    price = {"packaging_id": market.product["packagings"][0]["id"], "currency": "EUR", "tiers": tiers}
    path = f"/v1/products/{market.product['id']}/prices"
    expect(market.supplier.call("PUT", path, {"prices": [price]}, **once()), 200, "set the list price")
    named = {"product_id": market.product["id"], "packaging_id": price["packaging_id"], "stock_policy": "made_to_order"}
    made = expect(market.supplier.call("POST", "/v1/marketplace/offers", named, **once()), 201, "draft an offer")[
        "data"
    ]
    path = f"/v1/marketplace/offers/{made['id']}"
    seen = {"mode": "selected", "tenant_ids": [market.hospital_id, market.tenants["other_hospital"]["id"]]}
    expect(market.supplier.call("PUT", f"{path}/visibility", seen, **once()), 200, "choose the audience")
    expect(market.supplier.call("POST", f"{path}/publish", None, **once()), 200, "publish the offer")
    _hold(market, LIST_PRICE, "list_price", other=LIST_PRICE)
    step(f"offered to two hospitals; both read the list price {LIST_PRICE} in catalog and quote")


def list_and_promote(market: Market) -> None:
    """Give one hospital a price list, and let a promotion run for everybody."""
    entry = {"supplier_sku": f"PRICE-{market.mark}", "tiers": [{"min_quantity": 1, "unit_price": HOSPITAL_PRICE}]}
    body: dict[str, Any] = {
        "name": "Hospital terms",
        "currency": "EUR",
        "status": "active",
        "assignment": {"scope": "tenants", "ids": [market.hospital_id]},
        "entries": [entry],
    }
    path = f"/v1/price-lists/DEMO-{market.mark}"
    expect(market.supplier.call("PUT", path, body, **once()), 201, "put a price list")
    now = datetime.now(UTC)
    body = {
        "name": "Two percent on drapes",
        "status": "active",
        "conditions": {"product_ids": [market.product["id"]], "currencies": ["EUR"]},
        "action": {"type": "percent", "value": "2"},
        "starts_at": (now - timedelta(days=1)).isoformat(),
        "ends_at": (now + timedelta(days=30)).isoformat(),
        "budget_amount": {"amount": "500.00", "currency": "EUR"},
    }
    path = f"/v1/promotions/DEMO-{market.mark}"
    made = expect(market.supplier.call("PUT", path, body, **once()), 201, "put a promotion")["data"]
    if made["state"] != "running":
        raise DemoFailed(f"the promotion does not run: {made}")
    _hold(market, PROMOTED["hospital"], "price_list", other=PROMOTED["other"])
    step(
        f"a list for one hospital and a running promotion of 2 %: it pays {PROMOTED['hospital']}, the other {PROMOTED['other']}"
    )


def _draft(market: Market, caller: Caller, price: str) -> str:
    """Write a draft of an agreement, and return its id."""
    today = datetime.now(UTC).date()
    party = {"buyer_id": market.hospital_id} if caller is market.supplier else {"supplier_id": market.supplier_id}
    body = party | {
        "title": f"Drapes {market.mark}",
        "scope": "tenant",
        "currency": "EUR",
        "valid_from": (today - timedelta(days=1)).isoformat(),
        "valid_to": (today + timedelta(days=365)).isoformat(),
        "lines": [_line(market, price)],
    }
    return str(
        expect(caller.call("POST", "/v1/price-agreements", body, **once()), 201, "draft an agreement")["data"]["id"]
    )


def _line(market: Market, price: str) -> dict[str, Any]:
    return {
        "product_id": market.product["id"],
        "packaging_id": market.product["packagings"][0]["id"],
        "tiers": [{"min_quantity": 1, "unit_price": price}],
        "max_quantity": CAP,
    }


def propose_and_decline(market: Market) -> str:
    """Let the supplier draft and propose, and the hospital decline; return the agreement's id."""
    agreement = _draft(market, market.supplier, "10.80")
    path = f"/v1/price-agreements/{agreement}"
    expect(market.buyer.call("GET", path), 404, "the hospital looks at the draft")
    change = {"lines": [_line(market, PROPOSED)]}
    expect(market.supplier.call("PATCH", path, change, **once()), 200, "change the draft")
    expect(market.supplier.call("POST", f"{path}/propose", None, **once()), 200, "propose")
    seen = expect(market.buyer.call("GET", path), 200, "the hospital reads the proposal")["data"]
    if (seen["status"], seen["lines"][0]["tiers"][0]["unit_price"]) != ("proposed", PROPOSED):
        raise DemoFailed(f"the hospital reads another proposal: {seen}")
    body = {"reason": "Above the price of last year."}
    expect(market.approver.call("POST", f"{path}/decline", body, **once()), 200, "decline")
    _hold(market, PROMOTED["hospital"], "price_list", other=PROMOTED["other"])
    step(f"the supplier's draft: 404 for the hospital; proposed at {PROPOSED}, read and declined; no price changed")
    return agreement


def counter_and_accept(market: Market) -> str:
    """Let the hospital propose, and the supplier accept; return the agreement's id."""
    agreement = _draft(market, market.buyer, COUNTERED)
    path = f"/v1/price-agreements/{agreement}"
    expect(market.supplier.call("GET", path), 404, "the supplier looks at the counter-draft")
    expect(market.buyer.call("POST", f"{path}/propose", None, **once()), 200, "propose the counter-draft")
    refused = expect(market.approver.call("POST", f"{path}/accept", None, **once()), 403, "accept one's own proposal")
    if refused["code"] != "counterparty_only":
        raise DemoFailed(f"the own acceptance was refused for another reason: {refused['code']}")
    made = expect(market.supplier.call("POST", f"{path}/accept", None, **once()), 200, "accept")["data"]
    _hold(market, COUNTERED, "contract", other=PROMOTED["other"])
    trace = [(one["source_type"], one["reason"]) for one in _quoted(market, market.buyer)["trace"]]
    step(
        f"counter-draft of the hospital at {COUNTERED}: its own acceptance 403 counterparty_only, the supplier accepts"
        f" {made['agreement_number']}; catalog and quote say contract, passed over: {trace[1:]}"
    )
    return agreement


def keep_to_cap(market: Market, agreement: str) -> None:
    """Ask for more than the cap: the named agreement does not fall through, without a name the next price holds."""
    body = _basket(market, CAP // UNITS_PER_PACK + 1)
    refused = market.buyer.call("POST", "/v1/procurement/quote", body | {"price_agreement_id": agreement}, **once())
    if expect(refused, 409, "quote beyond the cap")["code"] != "agreement_exhausted":
        raise DemoFailed(f"it was refused for another reason: {refused.body}")
    (line,) = expect(market.buyer.call("POST", "/v1/procurement/quote", body, **once()), 200, "quote")["data"]["items"]
    if (line["source"], line["trace"][0]["reason"]) != ("price_list", "cap_exceeded"):
        raise DemoFailed(f"a line beyond the cap is priced otherwise: {line}")
    step(
        f"beyond the cap of {CAP} units: 409 agreement_exhausted by name, else the list, with cap_exceeded in its trace"
    )


def supersede(market: Market, agreement: str) -> None:
    """Let the supplier offer a next version, which takes the place of the first in the moment of its acceptance."""
    path = f"/v1/price-agreements/{agreement}"
    change = {"lines": [_line(market, NEXT)]}
    expect(market.supplier.call("PATCH", path, change, **once()), 200, "begin the next version")
    expect(market.supplier.call("POST", f"{path}/propose", None, **once()), 200, "propose the next version")
    _hold(market, COUNTERED, "contract", other=PROMOTED["other"])
    found = expect(market.approver.call("POST", f"{path}/accept", None, **once()), 200, "accept the next version")[
        "data"
    ]
    if found["revision"] != 2:
        raise DemoFailed(f"the accepted version is another: {found['revision']}")
    _hold(market, NEXT, "contract", other=PROMOTED["other"])
    step(f"next version at {NEXT}: the first holds until the hospital accepts, and is superseded in the same moment")


def keep_out(market: Market, agreement: str) -> None:
    """Let the other hospital look for the agreement by every way: it learns nothing of it."""
    expect(market.stranger.call("GET", f"/v1/price-agreements/{agreement}"), 404, "the other hospital reads it")
    listed = expect(
        market.stranger.call("GET", f"/v1/price-agreements?supplier_id={market.supplier_id}"), 200, "it lists"
    )
    sources = {one["source_type"] for one in _quoted(market, market.stranger)["trace"]}
    if listed["data"] or sources != {"list_price", "promotion"}:
        raise DemoFailed(f"the other hospital is told of {listed['data']} or {sources}")
    step("the other hospital: 404, an empty list, and a trace without list and agreement of the first")


def plan(market: Market) -> None:
    """Put a budget of the hospital."""
    body = {
        "name": "Drapes of the year",
        "amount": "20000.00",
        "currency": "EUR",
        "valid_from": "2026-01-01",
        "valid_to": "2036-01-01",
        "cost_centers": ["4711"],
    }
    path = f"/v1/procurement/budgets/DEMO-{market.mark}"
    made = expect(market.approver.call("PUT", path, body, **once()), 201, "put a budget")["data"]
    if (made["committed"], made["available"]) != ("0.00", "20000.00"):
        raise DemoFailed(f"the budget counts otherwise: {made}")
    step(f"budget {made['code']}: {made['available']} {made['currency']} available")


def hear(receiver: Receiver, market: Market, declined: str, agreed: str) -> None:
    """Wait until both parties were told of both agreements, each signed."""
    parties = (market.supplier_id, market.hospital_id)
    told = {declined: EVENTS[:2], agreed: (EVENTS[0], *EVENTS[2:])}
    wanted = {(party, event, key) for party in parties for key, events in told.items() for event in events}

    def is_complete() -> bool:
        arrivals = list(receiver.received)
        if not all(one.verified_by(receiver.secrets) for one in arrivals):
            raise DemoFailed("a signature does not verify")
        events = [one.event() for one in arrivals]
        return wanted <= {(one["tenant_id"], one["type"], one["data"]["object"]["id"]) for one in events}

    wait_until(is_complete, "the webhooks of both parties")
    step(f"{', '.join(EVENTS)} arrived at both parties, all verified")


def end(market: Market, agreement: str) -> None:
    """Give notice for today: the agreement ends, and the list holds again."""
    body = {"notice_date": datetime.now(UTC).date().isoformat(), "reason": "Tried."}
    path = f"/v1/price-agreements/{agreement}/terminate"
    expect(market.approver.call("POST", path, body, **once()), 200, "give notice")
    is_over = partial(_is_priced, market, PROMOTED["hospital"], "price_list")
    wait_until(is_over, "the end of the agreement")
    step(f"notice for today: the agreement is terminated, and the hospital pays {PROMOTED['hospital']} again")


# -- prices ------------------------------------------------------------------------------------------------------------


def _basket(market: Market, quantity: int = 2) -> dict[str, Any]:
    return {"currency": "EUR", "items": [{"product_id": market.product["id"], "quantity": quantity}]}


def _quoted(market: Market, caller: Caller) -> dict[str, Any]:
    answer = caller.call("POST", "/v1/procurement/quote", _basket(market), **once())
    (line,) = expect(answer, 200, "ask for a quote")["data"]["items"]
    found: dict[str, Any] = line
    return found


def _catalogued(market: Market, caller: Caller) -> dict[str, Any]:
    (found,) = expect(caller.call("GET", f"/v1/procurement/products?search={market.mark}"), 200, "read the catalog")[
        "data"
    ]
    price: dict[str, Any] = found["price"]
    return price


def _is_priced(market: Market, price: str, source: str) -> bool:
    found = (_catalogued(market, market.buyer), _quoted(market, market.buyer))
    return all((one["unit_price"], one["source"]) == (price, source) for one in found)


def _hold(market: Market, price: str, source: str, *, other: str) -> None:
    """Require that catalog and quote of both hospitals say these prices, and that the supplier's own quote agrees."""
    if not _is_priced(market, price, source):
        raise DemoFailed(f"the hospital pays not {price}: {_quoted(market, market.buyer)}")
    found = {_catalogued(market, market.stranger)["unit_price"], _quoted(market, market.stranger)["unit_price"]}
    if found != {other}:
        raise DemoFailed(f"the other hospital pays not {other}: {found}")
    body = _basket(market) | {"buyer_id": market.hospital_id}
    answer = market.supplier.call("POST", "/v1/pricing/quote", body, **once())
    (line,) = expect(answer, 200, "the supplier quotes")["data"]["items"]
    if (line["unit_price"], line["source"]) != (price, source):
        raise DemoFailed(f"the supplier's quote says otherwise: {line}")
