"""A record to search: the official examples and some patients of Synthea, written by the store, and pages read from it."""

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

from django.db import connections

from core import pipeline
from core.clock import now
from core.db import tenant_context
from fhir_api import store
from fhir_api.models import Method
from fhir_api.search import Ask, run_search
from tests.fhir_api import data

Json = dict[str, Any]
_TABLES = ("resource", "resourceversion", "posting", "dateentry", "stringentry", "quantityentry", "positionentry")
_PLACEHOLDER = re.compile(r'"urn:uuid:[0-9a-f-]+"')


def put(tenant_id: UUID, resources: Iterable[Json]) -> None:
    """Write resources under their own ids."""
    changes = [store.Change(Method.PUT, one["resourceType"], one["id"], one) for one in resources]
    for start in range(0, len(changes), 200):
        with tenant_context(tenant_id):
            store.write(tenant_id, changes[start : start + 200], at=now())


def change(tenant_id: UUID, resource: Json | None, name: store.Name) -> None:
    """Replace or delete a resource."""
    with tenant_context(tenant_id):
        before = store.locked(tenant_id, [name])[name]
        method = Method.PUT if resource else Method.DELETE
        store.write(tenant_id, [store.Change(method, *name, resource, before)], at=now())


def analyze(*, vacuum: bool = True) -> None:
    """Gather statistics as autovacuum does it: as the owner."""
    command = "VACUUM ANALYZE" if vacuum else "ANALYZE"
    with connections["owner"].cursor() as cursor:
        for name in _TABLES:
            cursor.execute(f"{command} fhir_api_{name}")
    connections["owner"].close()


def resources(patients: int) -> list[Json]:
    """The examples and some patients with all that belongs to them, each name once."""
    found = {(one["resourceType"], one["id"]): one for one in data.examples()}
    for _, bundle in zip(range(patients), data.synthea_bundles(), strict=False):
        found.update({(one["resourceType"], one["id"]): one for one in _resolved(bundle)})
    return list(found.values())


def _resolved(bundle: Json) -> list[Json]:
    names = {
        entry["fullUrl"]: f"{entry['resource']['resourceType']}/{entry['fullUrl'].removeprefix('urn:uuid:')}"
        for entry in bundle["entry"]
    }
    text = _PLACEHOLDER.sub(
        lambda found: json.dumps(names.get(found[0][1:-1], found[0][1:-1])), json.dumps(bundle["entry"])
    )
    entries = json.loads(text)
    return [
        {**entry["resource"], "id": original["fullUrl"].removeprefix("urn:uuid:")}
        for entry, original in zip(entries, bundle["entry"], strict=True)
    ]


def asked(tenant_id: UUID, type_name: str, query: str, *, trips: list[int] | None = None, **more: Any) -> Json:
    """The Bundle that a search answers, asked as the runtime role; `trips` is told how many statements each trip had."""
    return searched(tenant_id, type_name, tuple(parse_qsl(query)), trips=trips, **more)


def searched(
    tenant_id: UUID, type_name: str, pairs: tuple[tuple[str, str], ...], *, trips: list[int] | None = None, **more: Any
) -> Json:
    """The same of pairs that no query string was read into."""

    def run(calls: Any) -> Any:
        if trips is not None:
            trips.append(len(calls))
        return pipeline.run(calls)

    ask = Ask(tenant_id, type_name, pairs, more.pop("at", None) or now(), **more)
    with tenant_context(tenant_id):
        found: Json = json.loads(run_search(ask, run))
    return found


def names(bundle: Json, mode: str = "match") -> list[str]:
    """The resources of a Bundle that are there for one reason."""
    entries = [entry for entry in bundle.get("entry", []) if entry["search"]["mode"] == mode]
    return [f"{entry['resource']['resourceType']}/{entry['resource']['id']}" for entry in entries]


def next_query(bundle: Json) -> str:
    """The query of the next link; empty on the last page."""
    return next((urlsplit(link["url"]).query for link in bundle["link"] if link["relation"] == "next"), "")


def pages(tenant_id: UUID, type_name: str, query: str, **more: Any) -> list[list[str]]:
    """The matches of all pages."""
    found = []
    while query:
        bundle = asked(tenant_id, type_name, query, **more)
        found.append(names(bundle))
        query = next_query(bundle)
    return found


def all_of(tenant_id: UUID, type_name: str, query: str, **more: Any) -> list[str]:
    """The matches of all pages together."""
    return [name for page in pages(tenant_id, type_name, query, **more) for name in page]
