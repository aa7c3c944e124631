"""What must hold after the kills, as functions over what was seen outside and what PostgreSQL holds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

SHOWN = 5


@dataclass
class Write:
    """One product that a client wanted: all attempts bear the same key and body."""

    sku: str
    key: str
    began_at: float
    last_try_at: float = 0.0
    attempts: int = 0
    answered_at: float | None = None
    product_id: str = ""
    refusal: str = ""
    rolled_back: bool = False

    @property
    def acknowledged(self) -> bool:
        """Tell whether a 201 came back."""
        return bool(self.product_id)


@dataclass(frozen=True)
class Arrival:
    """One request at the receiver."""

    product_id: str
    message_id: str
    at: float
    verified: bool


@dataclass(frozen=True)
class Kept:
    """What PostgreSQL holds: products by id, and for each how many facts, events and deliveries it has.

    `states` counts the endpoint's deliveries, `orphans` are events with the mark of products that are not there.
    """

    products: Mapping[str, str]
    facts: Mapping[str, int]
    events: Mapping[str, int]
    deliveries: Mapping[str, int]
    queued: int = 0
    states: Mapping[str, int] = field(default_factory=dict)
    orphans: Sequence[str] = ()


@dataclass
class Evidence:
    """Everything the judgement rests on."""

    writes: list[Write] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)


def read(connection: psycopg.Connection[Any], *, tenant_id: str, endpoint_id: str, mark: str) -> Kept:
    """Read the products whose number begins with the mark, and what was written of them."""
    products = connection.execute(
        "SELECT id::text, supplier_sku FROM suppliers_product WHERE tenant_id = %s AND starts_with(supplier_sku, %s)",
        [tenant_id, mark],
    ).fetchall()
    ids = [row[0] for row in products]
    chosen = "resource_id = ANY(%s::uuid[]) AND type = 'product.created' GROUP BY resource_id"
    facts = connection.execute(f"SELECT resource_id::text, count(*) FROM ledger_event WHERE {chosen}", [ids])
    events = connection.execute(f"SELECT resource_id::text, count(*) FROM webhooks_event WHERE {chosen}", [ids])
    deliveries = connection.execute(
        "SELECT event.resource_id::text, count(*) FROM webhooks_event event JOIN webhooks_delivery delivery"
        " ON delivery.event_id = event.id WHERE delivery.endpoint_id = %s GROUP BY event.resource_id",
        [endpoint_id],
    )
    queued = connection.execute(
        "SELECT (SELECT count(*) FROM webhooks_event_new WHERE tenant_id = %(tenant)s)"
        " + (SELECT count(*) FROM webhooks_delivery_due WHERE endpoint_id = %(endpoint)s)"
        " + (SELECT count(*) FROM ledger_pending WHERE tenant_id = %(tenant)s)",
        {"tenant": tenant_id, "endpoint": endpoint_id},
    ).fetchone()
    states = connection.execute(
        "SELECT state, count(*) FROM webhooks_delivery WHERE endpoint_id = %s GROUP BY state", [endpoint_id]
    )
    orphans = connection.execute(
        "SELECT event.id::text FROM webhooks_event event WHERE tenant_id = %s AND type = 'product.created'"
        " AND position(%s in convert_from(body, 'UTF8')) > 0"
        " AND NOT EXISTS (SELECT FROM suppliers_product product WHERE product.id = event.resource_id)",
        [tenant_id, mark],
    ).fetchall()
    return Kept(
        products=dict(products),
        facts=dict(facts.fetchall()),
        events=dict(events.fetchall()),
        deliveries=dict(deliveries.fetchall()),
        queued=queued[0] if queued else 0,
        states=dict(states.fetchall()),
        orphans=[row[0] for row in orphans],
    )


def judge(evidence: Evidence, kept: Kept) -> list[str]:
    """Return one line for every kind of thing that is not as it must be; none means that all holds."""
    findings = [*_writes(evidence.writes, kept), *_ghosts(evidence.writes, kept), *_told(evidence.arrivals, kept)]
    return [*findings, *_unfinished(kept)]


def _unfinished(kept: Kept) -> list[str]:
    """Once the queue is empty every delivery has come to its end, and every receiver in the end said yes."""
    stuck = [f"{state}: {count}" for state, count in kept.states.items() if state != "delivered"]
    return _line("not delivered to the end", [] if kept.queued else stuck)


def _writes(writes: Sequence[Write], kept: Kept) -> list[str]:
    acknowledged = [write for write in writes if write.acknowledged]
    lost = [write.sku for write in acknowledged if kept.products.get(write.product_id) != write.sku]
    refused = [f"{write.sku}: {write.refusal}" for write in writes if write.refusal]
    return [*_line("acknowledged, but lost", lost), *_line("refused", refused)]


def _ghosts(writes: Sequence[Write], kept: Kept) -> list[str]:
    """An unacknowledged write may be there once, since its answer may have been lost; anything else is a ghost."""
    by_sku = defaultdict(list)
    for product_id, sku in kept.products.items():
        by_sku[sku].append(product_id)
    wanted = {write.sku for write in writes}
    strangers = [sku for sku in by_sku if sku not in wanted]
    doubles = [sku for sku, found in by_sku.items() if len(found) > 1]
    undone = [write.sku for write in writes if write.rolled_back and write.sku in by_sku]
    return [
        *_line("never asked for", strangers),
        *_line("created more than once", doubles),
        *_line("rolled back, but there", undone),
        *_line("told of nothing", kept.orphans),
    ]


def _told(arrivals: Sequence[Arrival], kept: Kept) -> list[str]:
    ids: dict[str, set[str]] = defaultdict(set)
    for arrival in arrivals:
        ids[arrival.product_id].add(arrival.message_id)
    findings = []
    for name, counts in (("facts", kept.facts), ("events", kept.events), ("deliveries", kept.deliveries)):
        wrong = [f"{product}: {counts.get(product, 0)}" for product in kept.products if counts.get(product, 0) != 1]
        findings += _line(f"not exactly one of its {name}", wrong)
    findings += _line("never delivered", [product for product in kept.products if product not in ids])
    findings += _line("delivered, but not there", [product for product in ids if product not in kept.products])
    findings += _line("delivered under several ids", [product for product, found in ids.items() if len(found) > 1])
    return findings + _line("badly signed", [found.message_id for found in arrivals if not found.verified])


def _line(what: str, found: Iterable[str]) -> list[str]:
    listed = list(found)
    return [f"{what}: {len(listed)}, as {', '.join(listed[:SHOWN])}"] if listed else []
