"""Business transactions in a process of their own: products created by the real action, one in ten rolled back.

    python -m tests.faults.producer --data FOLDER --tenant ID --mark K- --per-second 40

Writes a line of JSON for each transaction that has come to its end, and ends when its input is closed.
"""

import argparse
import json
import os
import random
import sys
import threading
import time
from typing import Any
from uuid import UUID

from devtools.environment import environment, open_backends
from devtools.places import open_places

THREADS = 3
ROLLED_BACK = 0.1


class Undone(Exception):
    """Thrown inside a transaction, so that nothing of it may remain."""


def body(sku: str) -> dict[str, Any]:
    """Return a product as a client would send it."""
    packaging = {"level": "case", "name": "Box of 100", "units_per_pack": 100, "orderable": True}
    about = {"name": f"Gloves {sku}", "category": "consumables", "kind": "consumable", "base_unit": "EA"}
    return {"supplier_sku": sku, "packagings": [packaging], "status": "active", **about}


def produce(sku: str, tenant_id: UUID, *, undo: bool) -> dict[str, Any]:
    """Run one transaction and tell how it ended; what PostgreSQL did not confirm may be there or not."""
    from django.db import DatabaseError, InterfaceError, connection, transaction

    from api import serializers
    from core import clock
    from core.actor import system_actor
    from core.db import bind_tenant
    from suppliers.catalog.actions import create_product
    from suppliers.catalog.serializers import ProductIn

    began, product_id = time.time(), ""
    try:
        with transaction.atomic():
            bind_tenant(tenant_id)
            data = serializers.read(ProductIn, body(sku))
            made = create_product(actor=system_actor(tenant_id, request_id=sku), data=data, at=clock.now())
            product_id = str(made.id)
            if undo:
                raise Undone
    except Undone:
        return {"sku": sku, "began_at": began, "rolled_back": True}
    except (DatabaseError, InterfaceError) as error:
        connection.close()
        return {"sku": sku, "began_at": began, "trouble": type(error).__name__}
    return {"sku": sku, "began_at": began, "product_id": product_id, "answered_at": time.time()}


def work(number: int, options: argparse.Namespace, stop: threading.Event, writing: threading.Lock) -> None:
    """Produce at this thread's share of the pace until told to stop."""
    chance, count, due = random.Random(f"{options.mark}{number}"), 0, time.monotonic()
    while not stop.is_set():
        result = produce(f"{options.mark}{number}-{count}", options.tenant, undo=chance.random() < ROLLED_BACK)
        with writing:
            print(json.dumps(result), flush=True)
        count += 1
        due = max(due + THREADS / options.per_second, time.monotonic() - 1)
        stop.wait(max(0.0, due - time.monotonic()))


def main() -> None:
    """Join the servers of the data folder and produce."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--tenant", required=True, type=UUID)
    parser.add_argument("--mark", required=True)
    parser.add_argument("--per-second", type=float, default=40)
    options = parser.parse_args()
    backends = open_backends(open_places(options.data))
    os.environ.update(environment(backends))
    import django

    django.setup()
    stop, writing = threading.Event(), threading.Lock()
    threads = [threading.Thread(target=work, args=(number, options, stop, writing)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    backends.release()


if __name__ == "__main__":
    main()
