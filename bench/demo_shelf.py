"""The story of the shelf and the shop window in `./dev demo`: from 500 products loaded at once to the recall of a lot.

A supplier loads a catalog, shows images, takes goods in by lot and serial number and offers three products to one hospital. The
hospital finds them, gives them codes of its own, sees of the stock what each offer displays, reserves, and takes goods into its
own place; the other hospital finds nothing. Then a lot is recalled, also at the hospital, and the webhooks of both tell it.
"""

import json
import secrets
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.demo_care import person
from bench.demo_goods import gtin13, png
from bench.demo_http import Caller, DemoFailed, expect, form, listen, once, step, wait_until
from bench.receiver import Receiver

PRODUCTS = 500
UNITS_PER_PACK = 10
SHELVED = 400  # base units of each product; of the one with serial numbers fewer, since each unit is named
WITH_SERIALS, SERIALS = 1, 20  # which product has serial numbers, and how many
RESERVED = 5  # packs
LOT = "LOT-0"  # of the first product
MOST_LINES = 200  # of one adjustment
EVENTS = ("lot.recalled", "reservation.broken")
# How the offers of the first three products tell of their stock, and what a buyer is to read there.
DISPLAYS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({"stock_display": "exact"}, {"quantity": 40, "band": None}),
    ({"stock_display": "band"}, {"quantity": None, "band": "1-9"}),
    ({"stock_display": "capped", "cap": 15}, {"quantity": 15, "band": None}),
)


@dataclass
class Shelf:
    """Who walks the story, and what it has made; `mark` is a word that only this walk's products have."""

    supplier: Caller
    buyer: Caller
    stranger: Caller
    keeper: Caller
    mark: str
    supplier_id: str
    products: list[dict[str, Any]]
    place: str = ""

    @property
    def first(self) -> dict[str, Any]:
        """The product that is reserved and recalled."""
        return self.products[0]

    @property
    def offered(self) -> list[dict[str, Any]]:
        """The products that are offered to the hospital."""
        return self.products[: len(DISPLAYS)]


def walk_shelf(demo: dict[str, Any]) -> None:
    """Walk the story with the supplier's key and a buyer of each hospital.

    :raises DemoFailed: a step did not end as it should.
    """
    tenants = demo["tenants"]
    key = {"X-API-Key": demo["api_keys"]["supplier"], "X-Tenant-Id": tenants["supplier"]["id"]}
    supplier, admin = Caller(demo["base_url"], key), person(demo, "tenant_admin")
    buyers = person(demo, "buyer"), person(demo, "other_buyer")
    keeper = person(demo, "receiving_clerk")
    shelf = Shelf(supplier, *buyers, keeper, secrets.token_hex(4), tenants["supplier"]["id"], [])
    with Receiver() as receiver:
        endpoints = [(one, listen(one, receiver, *EVENTS)) for one in (supplier, admin)]
        load(shelf)
        show_images(shelf)
        take_in(shelf)
        offer(shelf, tenants["hospital"]["id"])
        find(shelf)
        keep_relationship(shelf, admin)
        look_at_stock(shelf)
        reservation = reserve(shelf)
        receive(shelf)
        keep_out(shelf)
        lot = recall(shelf, reservation)
        hear(receiver, {"lot.recalled": lot["id"], "reservation.broken": reservation["id"]}, tenants)
        told(shelf, lot)
        for one, endpoint in endpoints:
            expect(one.call("DELETE", f"/v1/webhooks/{endpoint}", **once()), 204, "delete the endpoint")


def load(shelf: Shelf) -> None:
    """Load the catalog in one call, then load it again, which changes nothing."""
    base = 20 * 10**10 + secrets.randbelow(10**7) * 1000  # numbers beginning with 2 are for use inside a company
    body = {"items": [_row(shelf.mark, number, gtin13(base + number)) for number in range(PRODUCTS)], "atomic": True}
    began = time.monotonic()
    answer = expect(shelf.supplier.call("POST", "/v1/products/bulk", body, **once()), 200, "load the catalog")["data"]
    took = time.monotonic() - began
    if answer["created"] != PRODUCTS:
        raise DemoFailed(f"not all products were created: {answer['created']} of {PRODUCTS}")
    again = expect(shelf.supplier.call("POST", "/v1/products/bulk", body, **once()), 200, "load it again")["data"]
    if again["unchanged"] != PRODUCTS:
        raise DemoFailed(f"loading the same catalog again changed products: {again['updated']}")
    for number, row in enumerate(answer["results"][: len(DISPLAYS)]):
        found = expect(shelf.supplier.call("GET", f"/v1/products/{row['id']}"), 200, "read a product")["data"]
        shelf.products.append(found | {"number": number})
    step(
        f"{PRODUCTS} products created by one call in {took:.1f} s; the same call again: {again['unchanged']} unchanged"
    )


def _row(mark: str, number: int, gtin: str) -> dict[str, Any]:
    pack = {"level": "case", "name": "Case of 10", "units_per_pack": UNITS_PER_PACK, "orderable": True, "gtin": gtin}
    return {
        "supplier_sku": f"SHELF-{mark}-{number}",
        "name": f"Catheter {mark} model {number}",
        "category": "consumables",
        "kind": "consumable",
        "tracking": "lot_and_serial" if number == WITH_SERIALS else "lot",
        "expiry_required": True,
        "base_unit": "EA",
        "packagings": [pack],
        "status": "active",
    }


def show_images(shelf: Shelf) -> None:
    """Upload two images as forms, wait for the scan, and find them at the product."""
    files = [_upload(shelf, role, position) for position, role in enumerate(("front", "back"))]
    began = time.monotonic()
    for file in files:
        wait_until(partial(_is_ready, shelf.supplier, f"/v1/files/{file}"), "the scan of an image")
    took = time.monotonic() - began
    found = expect(shelf.supplier.call("GET", f"/v1/products/{shelf.first['id']}"), 200, "read the product")["data"]
    if [one["file_id"] for one in found["media"]] != files:
        raise DemoFailed(f"the product does not show its images: {found['media']}")
    step(f"two images uploaded, ready {took:.1f} s later; the product shows them in `media`")


def _upload(shelf: Shelf, role: str, position: int) -> str:
    bindings = [{"resource_type": "product", "resource_id": shelf.first["id"], "role": role, "position": position}]
    texts = {"purpose": "product_image", "visibility": "catalog", "bindings": json.dumps(bindings)}
    body, content_type = form(f"{role}.png", "image/png", png(f"{shelf.mark} {role}"), **texts)
    answer = shelf.supplier.call("POST", "/v1/files", body, **once(), **{"Content-Type": content_type})
    return str(expect(answer, 201, "upload an image")["data"]["id"])


def _is_ready(supplier: Caller, path: str) -> bool:
    file = expect(supplier.call("GET", path), 200, "read a file")["data"]
    if file["status"] == "rejected":
        raise DemoFailed(f"an image was rejected: {file['rejection_reason']}")
    return bool(file["status"] == "ready" and file["content_url"])


def take_in(shelf: Shelf) -> None:
    """Make a stock location, and take all products in by lot; one of them by serial number, too."""
    given = {"name": "High bay", "type": "warehouse", "code": f"B-{shelf.mark}"}
    answer = shelf.supplier.call("POST", "/v1/inventory/locations", given, **once())
    shelf.place = expect(answer, 201, "make a stock location")["data"]["id"]
    lines = [_line(shelf, number) for number in range(PRODUCTS)]
    calls = [lines[at : at + MOST_LINES] for at in range(0, PRODUCTS, MOST_LINES)]
    began = time.monotonic()
    for some in calls:
        answer = shelf.supplier.call(
            "POST", "/v1/inventory/adjustments", {"reference": "Goods in", "lines": some}, **once()
        )
        expect(answer, 201, "take goods in")
    took = time.monotonic() - began
    step(f"{PRODUCTS} lots taken in by {len(calls)} calls in {took:.1f} s, one of them with {SERIALS} serial numbers")


def _line(shelf: Shelf, number: int) -> dict[str, Any]:
    serials = [f"{shelf.mark}-{one}" for one in range(SERIALS)] if number == WITH_SERIALS else []
    return {
        "supplier_sku": f"SHELF-{shelf.mark}-{number}",
        "location_id": shelf.place,
        "lot_number": f"LOT-{number}",
        "expiry_date": "2032-06-30",
        "serial_numbers": serials,
        "mode": "delta",
        "quantity": len(serials) or SHELVED,
        "reason_code": "receipt",
    }


def offer(shelf: Shelf, hospital: str) -> None:
    """Publish an offer of three products to one hospital, each with another display of its stock."""
    for product, (display, _) in zip(shelf.offered, DISPLAYS, strict=True):
        body = {
            "product_id": product["id"],
            "packaging_id": product["packagings"][0]["id"],
            "currency": "EUR",
            "tiers": [{"min_quantity": 1, "unit_price": "37.50"}],
        }
        made = expect(shelf.supplier.call("POST", "/v1/marketplace/offers", body, **once()), 201, "draft an offer")
        path = f"/v1/marketplace/offers/{made['data']['id']}"
        seen = {"mode": "selected", "tenant_ids": [hospital], **display}
        expect(shelf.supplier.call("PUT", f"{path}/visibility", seen, **once()), 200, "choose the audience")
        expect(shelf.supplier.call("POST", f"{path}/publish", None, **once()), 200, "publish the offer")
    step(f"{len(DISPLAYS)} offers published to one hospital; their stock shows exactly, as a band, capped")


def find(shelf: Shelf) -> None:
    """Find the products by word and by GTIN: those that are offered and no other."""
    by_word = _found(shelf.buyer, f"search=cath%20{shelf.mark}")
    if {one["id"] for one in by_word} != {one["id"] for one in shelf.offered}:
        raise DemoFailed(f"the words find other products than the offered ones: {len(by_word)}")
    by_gtin = _found(shelf.buyer, f"gtin={shelf.first['packagings'][0]['gtin']}")
    if [(one["id"], one["price"]["currency"], len(one["media"])) for one in by_gtin] != [(shelf.first["id"], "EUR", 2)]:
        raise DemoFailed(f"the GTIN does not find the product with its price and images: {by_gtin}")
    price = by_gtin[0]["price"]
    step(
        f"the hospital finds {len(by_word)} of {PRODUCTS} by word, one by GTIN: {price['unit_price']} {price['currency']} a"
        f" case, {by_gtin[0]['availability']}, with both images"
    )


def keep_relationship(shelf: Shelf, admin: Caller) -> None:
    """Keep own codes and a blocked product with the supplier, and describe a supplier that is not on the platform."""
    blocked = shelf.offered[-1]["id"]
    aliases = [{"product_id": one["id"], "own_code": f"OWN-{shelf.mark}-{one['number']}"} for one in shelf.offered]
    body = {"customer_number": shelf.mark, "item_aliases": aliases, "blocked_products": [blocked]}
    described = {"legal_name": f"Village Orthotics {shelf.mark}", "country": "DE"}
    with Receiver() as receiver:
        endpoint = listen(admin, receiver, "supplier.created", "relationship.updated")
        path = f"/v1/suppliers/{shelf.supplier_id}/relationship"
        expect(shelf.buyer.call("PUT", path, body, **once()), 200, "write the relationship")
        answer = shelf.buyer.call("POST", "/v1/suppliers", described, **once())
        managed = expect(answer, 201, "describe a supplier")["data"]
        wanted = {("relationship.updated", shelf.supplier_id), ("supplier.created", managed["id"])}
        wait_until(lambda: wanted == _heard(receiver), "the webhooks of relationship and supplier")
        expect(admin.call("DELETE", f"/v1/webhooks/{endpoint}", **once()), 204, "delete the endpoint")
    found = {one["own_code"]: one["on_formulary"] for one in _found(shelf.buyer, f"search=cath%20{shelf.mark}")}
    if found != {one["own_code"]: one["product_id"] != blocked for one in aliases}:
        raise DemoFailed(f"the catalog shows the relationship otherwise: {found}")
    expect(shelf.stranger.call("GET", f"/v1/suppliers/{managed['id']}"), 404, "look at the other's supplier")
    step(
        f"{len(aliases)} own codes and one blocked product in the catalog; a managed supplier, 404 for the other hospital;"
        " relationship.updated and supplier.created verified"
    )


def _heard(receiver: Receiver) -> set[tuple[str, str]]:
    arrivals = list(receiver.received)
    if not all(one.verified_by(receiver.secrets) for one in arrivals):
        raise DemoFailed("a signature does not verify")
    return {(event["type"], event["data"]["object"]["id"]) for event in (one.event() for one in arrivals)}


def _found(caller: Caller, query: str) -> list[dict[str, Any]]:
    path = f"/v1/procurement/products?{query}"
    found: list[dict[str, Any]] = expect(caller.call("GET", path), 200, "search the market")["data"]
    return found


def _available(caller: Caller, products: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    path = f"/v1/stock/availability?product_id={','.join(one['id'] for one in products)}&quantity={RESERVED}"
    items = expect(caller.call("GET", path), 200, "ask for the availability")["data"]
    return {one["product_id"]: one for one in items}


def look_at_stock(shelf: Shelf) -> None:
    """Read of each offer's stock what its display tells, and no more."""
    found = _available(shelf.buyer, shelf.offered)
    for product, (display, wanted) in zip(shelf.offered, DISPLAYS, strict=True):
        seen = {name: found[product["id"]][name] for name in wanted}
        if seen != wanted:
            raise DemoFailed(f"the display {display} shows {seen} instead of {wanted}")
    enough = [found[one["id"]]["orderable_quantity"] for one in shelf.offered]
    if enough != [True, False, True]:
        raise DemoFailed(f"{RESERVED} cases can be had of other offers than expected: {enough}")
    step("availability as displayed: 40 cases; band 1-9, too few for 5; 15 of 40, the cap")


def reserve(shelf: Shelf) -> dict[str, Any]:
    """Reserve some cases of the first product, and see fewer left."""
    body = {"supplier_id": shelf.supplier_id, "items": [{"product_id": shelf.first["id"], "quantity": RESERVED}]}
    (made,) = expect(shelf.buyer.call("POST", "/v1/stock/reservations", body, **once()), 201, "reserve")["data"][
        "items"
    ]
    left = _available(shelf.buyer, [shelf.first])[shelf.first["id"]]
    if (left["quantity"], [one["id"] for one in left["reservations"]]) != (40 - RESERVED, [made["id"]]):
        raise DemoFailed(f"the availability does not tell the reservation: {left}")
    step(f"the hospital reserved {RESERVED} cases; {left['quantity']} are left")
    found: dict[str, Any] = made
    return found


def receive(shelf: Shelf) -> None:
    """Take as much as was reserved into the hospital's own place, by a scan of the label; move some of it on."""
    places = []
    for number in (1, 2):
        given = {"name": f"Ward store {number}", "type": "warehouse", "code": f"W{number}-{shelf.mark}"}
        answer = shelf.keeper.call("POST", "/v1/inventory/locations", given, **once())
        places.append(expect(answer, 201, "make a place of the hospital")["data"]["id"])
    units, scan = RESERVED * UNITS_PER_PACK, f"01{shelf.first['packagings'][0]['gtin']}1732063010{LOT}"
    line = {"scan": scan, "location_id": places[0], "mode": "delta", "quantity": units, "reason_code": "receipt"}
    body = {"reference": "Goods in", "lines": [line | {"supplier_id": shelf.supplier_id}]}
    expect(shelf.keeper.call("POST", "/v1/inventory/adjustments", body, **once()), 201, "receive goods")
    moved = {"product_id": shelf.first["id"], "lot_number": LOT, "quantity": UNITS_PER_PACK}
    body = {"from_location_id": places[0], "to_location_id": places[1], "lines": [moved]}
    expect(shelf.keeper.call("POST", "/v1/inventory/transfers", body, **once()), 201, "move goods")
    held = [(one["on_hand"], one["lot_status"], one["supplier_sku"]) for one in _held(shelf)]
    sku = shelf.first["supplier_sku"]
    if sorted(held) != [(UNITS_PER_PACK, "released", sku), (units - UNITS_PER_PACK, "released", sku)]:
        raise DemoFailed(f"the hospital's own stock is another: {held}")
    step(f"the hospital scanned {units} units into its own place and moved {UNITS_PER_PACK} of them to another")


def _held(shelf: Shelf) -> list[dict[str, Any]]:
    path = f"/v1/inventory/levels?product_id={shelf.first['id']}"
    found: list[dict[str, Any]] = expect(shelf.keeper.call("GET", path), 200, "read the hospital's stock")["data"][
        "items"
    ]
    return found


def keep_out(shelf: Shelf) -> None:
    """Let the other hospital look for the same products by every way: it learns nothing of them."""
    gtin, product = shelf.first["packagings"][0]["gtin"], shelf.first["id"]
    if _found(shelf.stranger, f"search={shelf.mark}") or _found(shelf.stranger, f"gtin={gtin}"):
        raise DemoFailed("the other hospital finds what was not offered to it")
    expect(shelf.stranger.call("GET", f"/v1/procurement/products/{product}"), 404, "the other hospital reads it")
    if _available(shelf.stranger, shelf.offered):
        raise DemoFailed("the other hospital is told of the stock")
    body = {"supplier_id": shelf.supplier_id, "items": [{"product_id": product, "quantity": 1}]}
    refused = expect(shelf.stranger.call("POST", "/v1/stock/reservations", body, **once()), 409, "it reserves")
    if refused["code"] != "offer_not_available":
        raise DemoFailed(f"the other hospital was refused for another reason: {refused['code']}")
    step("the other hospital: empty lists, 404 for the id, 409 offer_not_available when it reserves")


def recall(shelf: Shelf, reservation: dict[str, Any]) -> dict[str, Any]:
    """Recall the lot: nothing of it can be sold at once, and the reservation breaks; return the lot."""
    path = f"/v1/inventory/levels?product_id={shelf.first['id']}"
    (level,) = expect(shelf.supplier.call("GET", path), 200, "read the level")["data"]["items"]
    said = {"class": "II", "reference": f"FSN-{shelf.mark}", "instructions": "Set aside and send back."}
    body = {"status": "recalled", "recall": said, "reason": "Hub may come loose"}
    answer = shelf.supplier.call("PATCH", f"/v1/inventory/lots/{level['lot_id']}", body, **once())
    lot: dict[str, Any] = expect(answer, 200, "recall the lot")["data"]
    (after,) = expect(shelf.supplier.call("GET", path), 200, "read the level")["data"]["items"]
    seen = _available(shelf.buyer, [shelf.first])[shelf.first["id"]]
    if (level["sellable"], after["sellable"], seen["quantity"]) != (SHELVED - RESERVED * UNITS_PER_PACK, 0, 0):
        raise DemoFailed(f"sellable before and after, and as the hospital sees it: {level}, {after}, {seen}")
    step(f"lot {lot['lot_number']} recalled: sellable {level['sellable']} before, 0 at once; the hospital sees 0")
    began = time.monotonic()
    wait_until(lambda: _is_broken(shelf.buyer, reservation), "the end of the reservation")
    step(f"the reservation is broken, reason recall, within {time.monotonic() - began:.1f} s")
    wait_until(lambda: _is_recalled(shelf), "the recall of the hospital's own lot")
    step(f"the {RESERVED * UNITS_PER_PACK} units in the hospital's own places are recalled, too")
    return lot


def _is_recalled(shelf: Shelf) -> bool:
    return {(one["lot_status"], one["sellable"]) for one in _held(shelf)} == {("recalled", 0)}


def _is_broken(buyer: Caller, reservation: dict[str, Any]) -> bool:
    path = f"/v1/stock/reservations?product_id={reservation['product_id']}"
    items = expect(buyer.call("GET", path), 200, "read the reservations")["data"]
    return [(one["id"], one["status"], one["reason"]) for one in items] == [(reservation["id"], "broken", "recall")]


def hear(receiver: Receiver, objects: dict[str, str], tenants: dict[str, Any]) -> None:
    """Wait until both tenants were told both events, each signed."""
    wanted = {(tenants[name]["id"], event) for name in ("hospital", "supplier") for event in objects}

    def is_complete() -> bool:
        arrivals = list(receiver.received)
        if not all(one.verified_by(receiver.secrets) for one in arrivals):
            raise DemoFailed("a signature does not verify")
        events = [one.event() for one in arrivals]
        return wanted == {
            (one["tenant_id"], one["type"]) for one in events if one["data"]["object"]["id"] == objects[one["type"]]
        }

    wait_until(is_complete, f"{' and '.join(objects)} at both tenants")
    step(f"{' and '.join(objects)} arrived at the hospital and at the supplier, all verified")


def told(shelf: Shelf, lot: dict[str, Any]) -> None:
    """Read how far the recall is: its one buyer was told."""
    path = f"/v1/inventory/lots/{lot['id']}"
    answer = shelf.supplier.call("PATCH", path, {"reason": "How far is it?"}, **once())
    progress = expect(answer, 200, "read the progress of the recall")["data"]["recall"]["progress"]
    if (progress["buyers_total"], progress["buyers_told"]) != (1, 1):
        raise DemoFailed(f"the recall counts its buyer otherwise: {progress}")
    step(f"progress of the recall: {progress['buyers_told']} of {progress['buyers_total']} buyers told")
