"""The main story, walked against the running service as a partner's software would: `./dev demo`.

The clinical story (`bench/demo_care.py`), those of trade (`bench/demo_trade.py`, `bench/demo_shelf.py`, `bench/demo_price.py`,
`bench/demo_order.py`, `bench/demo_invoice.py`), and: a supplier signs in, registers a webhook, creates a product with an API key
(twice, by one Idempotency-Key), lists it with prices and stock, another supplier cannot see it, and the signed event arrives.
"""

import argparse
import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any

from bench.demo_care import walk_care
from bench.demo_http import WAIT_SECONDS, Caller, DemoFailed, expect, listen, step
from bench.demo_invoice import walk_invoice
from bench.demo_order import walk_order
from bench.demo_price import walk_price
from bench.demo_shelf import walk_shelf
from bench.demo_trade import walk_trade
from bench.receiver import Receiver


def walk(demo: dict[str, Any]) -> None:
    """Walk the story with the credentials of demo.json.

    :raises DemoFailed: a step did not end as it should.
    """
    base, tenant = demo["base_url"], demo["tenants"]["supplier"]["id"]
    expect(Caller(base).call("GET", "/health/live"), 200, "the service lives")
    sign_in(demo)
    supplier = Caller(base, {"X-API-Key": demo["api_keys"]["supplier"], "X-Tenant-Id": tenant})
    with Receiver() as receiver:
        endpoint = listen(supplier, receiver, "product.*")
        step(f"webhook {endpoint} registered for product.*; its secret was shown once")
        product = stock_catalog(supplier)
        stranger = Caller(
            base,
            {"X-API-Key": demo["api_keys"]["other_supplier"], "X-Tenant-Id": demo["tenants"]["other_supplier"]["id"]},
        )
        expect(stranger.call("GET", f"/v1/products/{product['id']}"), 404, "another supplier asks for it")
        step("another supplier asks for the product: 404, as if there were none")
        event = arrived(receiver, product["id"])
        step(f"{event['type']} arrived as {event['id']}, verified by standardwebhooks: {json.dumps(event['data'])}")
        once = {"Idempotency-Key": secrets.token_hex(16)}  # whoever lost the answer and asks again gets the same one
        expect(supplier.call("DELETE", f"/v1/webhooks/{endpoint}", **once), 204, "delete the endpoint")
        step("endpoint deleted; its history stays")


def sign_in(demo: dict[str, Any]) -> None:
    """Sign a person in and ask who it is."""
    person = demo["users"]["supplier_admin"]
    pair = expect(
        Caller(demo["base_url"]).call(
            "POST", "/v1/auth/token", {"email": person["email"], "password": person["password"]}
        ),
        200,
        "sign in",
    )
    token = (pair.get("data") or pair)["access_token"]
    me = expect(Caller(demo["base_url"], {"Authorization": f"Bearer {token}"}).call("GET", "/v1/me"), 200, "who am I")
    step(f"signed in as supplier_admin; roles {me['data'].get('roles')}")


def stock_catalog(supplier: Caller) -> dict[str, Any]:
    """Create a product twice with one key, and find it in the list."""
    mark = secrets.token_hex(4)
    body = {
        "supplier_sku": f"DEMO-{mark}",
        "name": f"Nitrile examination gloves {mark}",
        "category": "consumables",
        "kind": "consumable",
        "base_unit": "EA",
        "packagings": [{"level": "case", "name": "Box of 100", "units_per_pack": 100, "orderable": True}],
        "status": "active",
    }
    headers = {"Idempotency-Key": f"demo-{mark}"}
    first = supplier.call("POST", "/v1/products", body, **headers)
    product: dict[str, Any] = expect(first, 201, "create a product")["data"]
    step(f"product {product['id']} created by API key")
    again = supplier.call("POST", "/v1/products", body, **headers)
    replayed = {name.lower(): value for name, value in again.headers.items()}.get("idempotency-replayed")
    if expect(again, 201, "create it again")["data"]["id"] != product["id"] or replayed != "true":
        raise DemoFailed("the same Idempotency-Key made another product")
    step("the same Idempotency-Key again: the same answer, replayed")
    listed = expect(supplier.call("GET", "/v1/products?include=prices,stock&sort=-updated_at"), 200, "list products")
    found = next((item for item in listed["data"]["items"] if item["id"] == product["id"]), None)
    if found is None or "prices" not in found or "stock" not in found:
        raise DemoFailed("the product is not in the list with prices and stock")
    step(
        f"listed with include=prices,stock&sort=-updated_at: first of {listed['data']['total']}, stock {found['stock']}"
    )
    return product


def arrived(receiver: Receiver, product_id: str) -> dict[str, Any]:
    """Wait for the product's event and hold its signature.

    :raises DemoFailed: it did not come, or was not signed with our secret.
    """
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        for arrival in list(receiver.received):
            event = arrival.event()
            if event["data"]["object"]["id"] == product_id and event["type"] == "product.created":
                if not arrival.verified_by(receiver.secrets):
                    raise DemoFailed("the signature does not verify")
                return event
        time.sleep(0.1)
    raise DemoFailed(f"no event within {WAIT_SECONDS:.0f} s")


def main() -> int:
    """Read demo.json, walk, and say how it ended."""
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="walk the story this often (1 to 100)")
    parser.add_argument("--data", default=os.environ.get("DATA_DIR", ".local"), help="the data folder of ./dev up")
    options = parser.parse_args()
    path = Path(options.data) / "demo.json"
    try:
        demo = json.loads(path.read_text())
    except FileNotFoundError:
        print(f"{path} is not there: run ./dev up first", file=sys.stderr)
        return 1
    try:
        for number in range(min(max(options.times, 1), 100)):
            print(f"walk {number + 1} against {demo['base_url']}")
            walk(demo)
            walk_care(demo)
            walk_trade(demo)
            walk_shelf(demo)
            walk_price(demo)
            walk_invoice(demo, walk_order(demo))
    except DemoFailed as error:
        print(f"  no  {error}", file=sys.stderr)
        return 1
    print("demo: the story holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
