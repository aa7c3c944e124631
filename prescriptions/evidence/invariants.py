"""Rules between the rows of prescriptions, proved by `manage.py prove_invariants`.

A batch is read in one snapshot, so writers go on meanwhile and are never mistaken for a fault.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.db import connection, transaction

from core.arrays import array_literal
from core.db import bind_call
from core.invariants import Breach
from core.pipeline import Call, Rows, Statement, run
from fhir_api import public as record
from prescriptions.lifecycle.medication_requests import VERSION_EXTENSION, address
from prescriptions.states import LIVE

RULE: Final = "prescriptions"
BATCH: Final = 200
UNTOLD: Final = "override_recorded"  # the only entry without an event of its own
_REQUESTS: Final = {"requested": "prescription_request.created", "request_answered": "prescription_request.answered"}
_PRESCRIPTION, _ITEM = "prescriptions_prescription", "prescriptions_prescriptionitem"
_LIVE: Final = ", ".join(f"'{state}'" for state in LIVE)


class _Walked(NamedTuple):
    """A prescription, its version, and whether it was ever routed within its own tenant, which then hears of more."""

    id: UUID
    version: int
    at_home: bool


class _Item(NamedTuple):
    """An item whose counters differ from the lines of its dispensations."""

    id: UUID
    what: str


class _Count(NamedTuple):
    """How often a step of a prescription was chained, or told."""

    prescription_id: UUID
    step: str
    times: int


_WALK: Final = Statement.of(
    "SELECT t.id, t.version, EXISTS (SELECT 1 FROM prescriptions_route r WHERE r.tenant_id = $1"
    " AND r.prescription_id = t.id AND r.dispenser_tenant_id = $1) AS at_home FROM prescriptions_prescription t"
    " WHERE t.tenant_id = $1 AND (t.tenant_id, t.id) > ($1, $2) ORDER BY t.id LIMIT $3",
    row=_Walked,
)
_QUANTITIES: Final = Statement.of(
    "SELECT i.id, format('%s was dispensed in %s fills, the lines say %s', trim_scale(i.dispensed_quantity),"
    " i.fills_used, trim_scale(given.total)) AS what FROM prescriptions_prescriptionitem i CROSS JOIN LATERAL ("
    " SELECT coalesce(sum(l.quantity), 0) AS total FROM prescriptions_dispensationline l JOIN prescriptions_dispensation d"
    " ON d.tenant_id = l.tenant_id AND d.id = l.dispensation_id WHERE l.tenant_id = $1 AND d.tenant_id = $1"
    " AND l.item_id = i.id AND d.status = 'completed') given"
    " WHERE i.tenant_id = $1 AND i.prescription_id = ANY($2::uuid[]) AND (i.dispensed_quantity <> given.total"
    " OR given.total > i.quantity_value * i.fills_allowed OR i.fills_used <> ceil(given.total / i.quantity_value))",
    row=_Item,
)
_ROUTES: Final = Statement.of(
    "SELECT t.id, 'the row and its routes differ' AS what FROM prescriptions_prescription t"
    " LEFT JOIN prescriptions_route r ON r.tenant_id = $1 AND r.id = t.route_id"
    " WHERE t.tenant_id = $1 AND t.id = ANY($2::uuid[]) AND ("
    " (t.route_state, t.pharmacy_location_id, t.dispenser_tenant_id) IS DISTINCT FROM"
    " (coalesce(r.state, ''), r.pharmacy_location_id, r.dispenser_tenant_id)"
    " OR (SELECT count(*) FROM prescriptions_route l WHERE l.tenant_id = $1 AND l.prescription_id = t.id"
    f" AND l.state IN ({_LIVE})) <> CASE WHEN t.route_state IN ({_LIVE}) THEN 1 ELSE 0 END)",
    row=_Item,
)
_ENTRIES: Final = Statement.of(
    "SELECT e.prescription_id, e.action AS step, count(*) AS times FROM prescriptions_auditentry e"
    f" WHERE e.tenant_id = $1 AND e.prescription_id = ANY($2::uuid[]) AND e.action <> '{UNTOLD}'"
    " GROUP BY e.tenant_id, e.prescription_id, e.action",
    row=_Count,
)
_EVENTS: Final = Statement.of(
    "SELECT v.resource_id AS prescription_id, v.type AS step, count(*) AS times FROM ledger_event v WHERE v.tenant_id = $1"
    " AND v.resource_id = ANY($2::uuid[]) AND v.resource_type = 'prescription' AND v.type <> 'prescription.expiring'"
    " GROUP BY v.tenant_id, v.resource_id, v.type UNION ALL"
    " SELECT q.prescription_id, v.type, count(*) FROM prescriptions_prescriptionrequest q JOIN ledger_event v"
    " ON v.resource_id = q.id WHERE q.tenant_id = $1 AND q.prescription_id = ANY($2::uuid[]) AND v.tenant_id = $1"
    " AND v.resource_type = 'prescription_request' GROUP BY q.tenant_id, q.prescription_id, v.type",
    row=_Count,
)
_KEYS: Final = Statement.of(
    "SELECT i.id, i.prescription_id::text AS what FROM prescriptions_prescriptionitem i"
    " WHERE i.tenant_id = $1 AND i.prescription_id = ANY($2::uuid[])",
    row=_Item,
)


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield the prescriptions of a tenant whose quantities, routes, events or resources differ from one another."""
    after: UUID | None = UUID(int=0)
    while after is not None:
        with _snapshot():
            _, rows = run([bind_call(tenant_id), Call(_WALK, [str(tenant_id), str(after), str(BATCH)])])
            walked = rows.of(_Walked)
            found = list(_of_batch(tenant_id, walked)) if walked else []
        yield from found
        after = walked[-1].id if len(walked) == BATCH else None


def _of_batch(tenant_id: UUID, walked: Sequence[_Walked]) -> Iterator[Breach]:
    keys = [str(tenant_id), array_literal(one.id for one in walked)]
    quantities, routes, entries, events, items = run(
        [Call(one, keys) for one in (_QUANTITIES, _ROUTES, _ENTRIES, _EVENTS, _KEYS)]
    )
    for item in quantities.of(_Item):
        yield Breach(RULE, tenant_id, _ITEM, item.id, item.what)
    for one in routes.of(_Item):
        yield Breach(RULE, tenant_id, _PRESCRIPTION, one.id, one.what)
    yield from _of_events(tenant_id, walked, entries, events)
    yield from _of_resources(tenant_id, walked, items.of(_Item))


def _of_events(tenant_id: UUID, walked: Iterable[_Walked], entries: Rows, events: Rows) -> Iterator[Breach]:
    """Compare how often each step was chained and told; a tenant of both sides may have heard of more."""
    chained = Counter({(one.prescription_id, _type_of(one.step)): one.times for one in entries.of(_Count)})
    told = Counter({(one.prescription_id, one.step): one.times for one in events.of(_Count)})
    at_home = {one.id for one in walked if one.at_home}
    for key, kind in sorted(chained.keys() | told.keys()):
        entered, heard = chained[key, kind], told[key, kind]
        if heard < entered or (heard > entered and key not in at_home):
            yield Breach(RULE, tenant_id, _PRESCRIPTION, key, f"{entered} entries but {heard} events {kind}")


def _type_of(action: str) -> str:
    return _REQUESTS.get(action, f"prescription.{action}")


def _of_resources(tenant_id: UUID, walked: Iterable[_Walked], items: Sequence[_Item]) -> Iterator[Breach]:
    """Compare the version in each MedicationRequest with that of its prescription."""
    versions = {str(one.id): one.version for one in walked}
    bodies = record.projected(tenant_id, [("MedicationRequest", str(item.id)) for item in items])
    for item in items:
        body = bodies.get(("MedicationRequest", str(item.id)))
        shown = _version_in(orjson.loads(body)) if body else None
        if shown != versions[item.what]:
            what = f"the MedicationRequest is of version {shown}, the prescription of version {versions[item.what]}"
            yield Breach(RULE, tenant_id, _ITEM, item.id, what)


def _version_in(resource: Any) -> int | None:
    url = address(VERSION_EXTENSION)
    return next((one.get("valueInteger") for one in resource.get("extension", ()) if one.get("url") == url), None)


@contextmanager
def _snapshot() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
