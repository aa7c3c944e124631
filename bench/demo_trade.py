"""The trade story of `./dev demo`, as far as trade goes today: from goods on the shelf to a reservation that is given back.

A supplier makes a stock location, receives two lots, sets list prices, offers the product to one hospital; the hospital
reserves what expires first, another hospital is offered nothing; a count below the promise is refused; the hospital gives the
stock back. The webhooks of both tell it.
"""

import secrets
import time
from typing import Any

from bench.demo_care import person
from bench.demo_http import WAIT_SECONDS, Caller, DemoFailed, expect, listen, once, step
from bench.receiver import Receiver


def walk_trade(demo: dict[str, Any]) -> None:
    """Walk the story with the supplier's key and the hospital's buyer.

    :raises DemoFailed: a step did not end as it should.
    """
    base, tenants = demo["base_url"], demo["tenants"]
    supplier = Caller(base, {"X-API-Key": demo["api_keys"]["supplier"], "X-Tenant-Id": tenants["supplier"]["id"]})
    buyer, admin = person(demo, "buyer"), person(demo, "tenant_admin")
    with Receiver() as receiver:
        endpoints = [(one, listen(one, receiver, "reservation.*")) for one in (supplier, admin)]
        product = _product(supplier)
        place = _shelve(supplier, product)
        _offer(supplier, product, tenants["hospital"]["id"])
        reservation = _reserve(buyer, product, tenants["supplier"]["id"])
        _count(supplier, product, place)
        _release(buyer, supplier, reservation)
        _hear(receiver, reservation)
        for one, endpoint in endpoints:
            expect(one.call("DELETE", f"/v1/webhooks/{endpoint}", **once()), 204, "delete the endpoint")


def _product(supplier: Caller) -> dict[str, Any]:
    mark = secrets.token_hex(4)
    body = {
        "supplier_sku": f"TRADE-{mark}",
        "name": f"Saline 0.9 % 500 ml {mark}",
        "category": "consumables",
        "kind": "consumable",
        "tracking": "lot",
        "expiry_required": True,
        "base_unit": "EA",
        "packagings": [{"level": "case", "name": "Case of 10", "units_per_pack": 10, "orderable": True}],
        "status": "active",
    }
    found: dict[str, Any] = expect(supplier.call("POST", "/v1/products", body, **once()), 201, "create a product")[
        "data"
    ]
    return found


def _shelve(supplier: Caller, product: dict[str, Any]) -> str:
    """Make a stock location and receive two lots, the one that expires later first."""
    given = {"name": "Hall 1", "type": "warehouse", "code": f"H-{secrets.token_hex(4)}"}
    place = expect(supplier.call("POST", "/v1/inventory/locations", given, **once()), 201, "make a stock location")[
        "data"
    ]["id"]
    lines = [
        {
            "product_id": product["id"], "location_id": place, "lot_number": lot, "expiry_date": expiry, "mode": "delta",
            "quantity": 100, "reason_code": "receipt",
        }
        for lot, expiry in (("LATER", "2032-06-30"), ("SOONER", "2031-01-31"))
    ]  # fmt: skip
    body = {"reference": "Goods in", "lines": lines}
    expect(supplier.call("POST", "/v1/inventory/adjustments", body, **once()), 201, "receive the goods")
    step("stock location made; two lots of 100 received")
    return str(place)


def _offer(supplier: Caller, product: dict[str, Any], hospital: str) -> None:
    body = {
        "product_id": product["id"], "packaging_id": product["packagings"][0]["id"], "title": "Case of 10",
    }  # fmt: skip
    offer = expect(supplier.call("POST", "/v1/marketplace/offers", body, **once()), 201, "draft an offer")["data"]
    path = f"/v1/marketplace/offers/{offer['id']}"
    seen = {"mode": "selected", "tenant_ids": [hospital], "stock_display": "band"}
    expect(supplier.call("PUT", f"{path}/visibility", seen, **once()), 200, "choose the audience")
    refused = expect(supplier.call("POST", f"{path}/publish", None, **once()), 409, "publish without a price")
    if refused["checks"] != ["price_resolvable"]:
        raise DemoFailed(f"publishing without a price was refused for another reason: {refused}")
    price = {
        "packaging_id": product["packagings"][0]["id"], "currency": "EUR",
        "tiers": [{"min_quantity": 1, "unit_price": "12.50"}, {"min_quantity": 50, "unit_price": "11.875"}],
    }  # fmt: skip
    answer = supplier.call("PUT", f"/v1/products/{product['id']}/prices", {"prices": [price]}, **once())
    expect(answer, 200, "set the list prices")
    step("an offer without a price was refused; the product has list prices in two tiers now")
    expect(supplier.call("POST", f"{path}/publish", None, **once()), 200, "publish the offer")
    step("offer published to one hospital")


def _reserve(buyer: Caller, product: dict[str, Any], supplier_id: str) -> dict[str, Any]:
    body = {"supplier_id": supplier_id, "items": [{"product_id": product["id"], "quantity": 9}]}
    answer = buyer.call("POST", "/v1/stock/reservations", body, **once())
    (made,) = expect(answer, 201, "reserve")["data"]["items"]
    if [one["expiry_date"] for one in made["allocations"]] != ["2031-01-31"]:
        raise DemoFailed("what expires first was not taken first")
    step(
        f"the hospital reserved 9 cases ({made['base_quantity']} units) of the lot that expires first, until {made['expires_at']}"
    )
    found: dict[str, Any] = made
    return found


def _count(supplier: Caller, product: dict[str, Any], place: str) -> None:
    line = {
        "product_id": product["id"], "location_id": place, "lot_number": "SOONER", "mode": "set", "quantity": 80,
        "expected_quantity": 100, "reason_code": "count",
    }  # fmt: skip
    answer = supplier.call("POST", "/v1/inventory/adjustments", {"lines": [line]}, **once())
    if expect(answer, 409, "count below the promise")["code"] != "stock_reserved":
        raise DemoFailed("a count below what is promised was not refused")
    step("a count of 80 where 90 are promised: 409 stock_reserved")


def _release(buyer: Caller, supplier: Caller, reservation: dict[str, Any]) -> None:
    expect(buyer.call("DELETE", f"/v1/stock/reservations/{reservation['id']}", **once()), 204, "give the stock back")
    path = f"/v1/inventory/levels?product_id={reservation['product_id']}"
    levels = expect(supplier.call("GET", path), 200, "read the levels")["data"]["items"]
    if sum(level["sellable"] for level in levels) != 200:
        raise DemoFailed("the stock is not free again")
    step("given back: all 200 units are sellable again")


def _hear(receiver: Receiver, reservation: dict[str, Any]) -> None:
    """Wait for the events of both tenants and hold their signatures."""
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        of_it = [one for one in list(receiver.received) if one.event()["data"]["object"]["id"] == reservation["id"]]
        if not all(one.verified_by(receiver.secrets) for one in of_it):
            raise DemoFailed("a signature does not verify")
        told = {(one.event()["tenant_id"], one.event()["type"]) for one in of_it}
        if len(told) == 4:
            step("reservation.created and reservation.released arrived at both tenants, all verified")
            return
        time.sleep(0.1)
    raise DemoFailed(f"events of the reservation are missing within {WAIT_SECONDS:.0f} s")
