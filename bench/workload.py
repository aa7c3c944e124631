"""The requests of the product benchmarks: lists, gets and creates of many callers."""

import itertools
import json
import os
import random
import time
from typing import Any

from .load import request

_numbers = itertools.count(1)
_RUN = f"{int(time.time()) % 10_000_000:07d}{os.getpid() % 10_000:04d}"


def _gtin() -> str:
    """A valid GTIN-13 nobody used before in this installation, as far as twelve random digits go."""
    digits = [int(digit) for digit in f"{random.randrange(10**10, 10**12):012d}"]
    total = sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return "".join(map(str, digits)) + str(-total % 10)


def product_body(word: str) -> dict[str, Any]:
    """A new active product, as a supplier's system sends it."""
    return {
        "supplier_sku": f"{word}-{_RUN}x{next(_numbers)}",
        "name": "Nitrile examination gloves M",
        "description": "Box of 100 units, CE certified, for clinical use.",
        "category": "gloves",
        "kind": "consumable",
        "status": "active",
        "brand": "Brand 7",
        "base_unit": "EA",
        "packagings": [{"level": "inner", "name": "Box", "units_per_pack": 100, "gtin": _gtin()}],
        "country_of_origin": "DE",
        "lead_time_days": 3,
    }


def _headers(caller: dict[str, Any], credential: str = "token") -> dict[str, str]:
    return {
        "Authorization": f"Bearer {caller[credential]}",
        "X-Tenant-Id": caller["tenant"],
        "Accept": "application/json",
    }


def post(caller: dict[str, Any], path: str, body: dict[str, Any]) -> bytes:
    """One POST of a caller, with an Idempotency-Key of its own."""
    headers = _headers(caller) | {"Idempotency-Key": f"key-{_RUN}x{next(_numbers)}"}
    return request("POST", path, headers=headers, body=json.dumps(body).encode())


def lists(callers: list[dict[str, Any]], path: str = "/v1/products", credential: str = "token") -> list[bytes]:
    """One list for each caller."""
    return [request("GET", path, headers=_headers(caller, credential)) for caller in callers]


def gets(callers: list[dict[str, Any]], path: str = "/v1/products", credential: str = "token") -> list[bytes]:
    """One product for each caller."""
    return [
        request("GET", f"{path}/{random.choice(caller['products'])}", headers=_headers(caller, credential))
        for caller in callers
    ]


def creates(
    callers: list[dict[str, Any]], count: int, path: str = "/v1/products", credential: str = "token"
) -> list[bytes]:
    """So many new products of callers in turn, each with its own Idempotency-Key."""
    made = []
    for caller in itertools.islice(itertools.cycle(callers), count):
        body = product_body("bench")
        headers = _headers(caller, credential) | {"Idempotency-Key": f"key-{body['supplier_sku']}"}
        made.append(request("POST", path, headers=headers, body=json.dumps(body).encode()))
    return made
