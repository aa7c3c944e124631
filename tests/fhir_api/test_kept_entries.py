"""What resources are found by, as the tables keep it."""

import io
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from core.clock import now
from core.db import tenant_context
from fhir_api import keys, store
from fhir_api.definitions.parameters import PARAMETERS
from fhir_api.indexing import index
from fhir_api.models import DateEntry, Method, PositionEntry, Posting, QuantityEntry, Resource, StringEntry
from tests import factories

from . import data

TABLES = {
    "postings": (Posting, ("key",)),
    "dates": (DateEntry, ("key",)),
    "strings": (StringEntry, ("key", "value")),
    "quantities": (QuantityEntry, ("key", "value")),
    "positions": (PositionEntry, ("latitude", "longitude")),
}
EDGE = {
    "resourceType": "Observation",
    "id": "edge",
    "status": "final",
    "code": {"coding": [{"system": 'a"b\\c', "code": "{x,y}"}], "text": 'Ä "quoted" \\ text, {with} all'},
    "effectivePeriod": {"end": "0001-01-01T00:00:00+14:00"},
    "component": [
        {"code": {"text": "a"}, "valueQuantity": {"value": Decimal("1e400"), "unit": "NULL"}},
        {"code": {"text": "b"}, "valueQuantity": {"value": Decimal("-1e-400"), "unit": "g"}},
        {"code": {"text": "c"}, "valueDateTime": "9999-12-31T23:59:59.999Z"},
    ],
    "valueDateTime": "9999",
    "note": [{"text": "n" * 1000}],
    "identifier": [{"value": "x" * 5000}],
}


@pytest.fixture
def tenant():
    return factories.provision()


def write(tenant, resource, *, method=Method.PUT, kind="", fhir_id="", later=0):
    name = (resource["resourceType"], resource["id"]) if resource else (kind, fhir_id)
    with tenant_context(tenant.id):
        before = store.locked(tenant.id, [name]).get(name)
        change = store.Change(method, *name, resource, before)
        return store.write(tenant.id, [change], at=now() + timedelta(seconds=later))[0]


def test_each_version_is_later_than_its_own_predecessor(tenant):
    """A projection and a clock that goes after another one write so, too; nobody is moved for the sake of others."""
    first = write(tenant, EDGE, later=60)
    other = {**EDGE, "id": "other"}
    with tenant_context(tenant.id):
        before, at = store.locked(tenant.id, [first.name]), now()
        named = [("Observation", "edge", EDGE, before[first.name]), ("Observation", "other", other, None)]
        second, alone = store.write(tenant.id, [store.Change(Method.PUT, *one) for one in named], at=at)
    gone = write(tenant, None, method=Method.DELETE, kind="Observation", fhir_id="edge")
    again = write(tenant, EDGE)
    moments = [one.last_updated for one in (first, second, gone, again)]
    assert moments == [first.last_updated + n * timedelta(milliseconds=1) for n in range(4)]
    assert alone.last_updated == at.replace(microsecond=at.microsecond // 1000 * 1000)
    with tenant_context(tenant.id):
        assert store.locked(tenant.id, [first.name])[first.name].last_updated == again.last_updated


def kept(tenant):
    """The rows of each table as sets of the columns compared here."""
    with tenant_context(tenant.id):
        return {
            name: Counter(model.objects.filter(tenant_id=tenant.id).values_list(*columns))
            for name, (model, columns) in TABLES.items()
        }


def made(*resources):
    found = {name: Counter() for name in TABLES}
    for resource in resources:
        entries = index(resource)
        found["postings"].update((key,) for key in entries.postings)
        found["dates"].update((key,) for key, _, _ in entries.dates)
        for name in ("strings", "quantities", "positions"):
            found[name].update(getattr(entries, name))
    return found


def test_edges_of_every_kind_are_kept_and_dropped(tenant):
    plain = {name: EDGE[name] for name in ("resourceType", "id", "status", "code")}

    write(tenant, EDGE)
    first = kept(tenant)
    write(tenant, {**EDGE, "language": "de"}, later=1)
    same = kept(tenant)
    write(tenant, plain, later=2)
    less = kept(tenant)
    write(tenant, None, method=Method.DELETE, kind="Observation", fhir_id="edge", later=3)

    assert first == same == made(EDGE)
    assert less == made(plain)
    assert {name: sum(rows.values()) for name, rows in kept(tenant).items()} == dict.fromkeys(TABLES, 0)


def test_every_example_is_kept_and_dropped(tenant):
    examples = data.examples()
    with tenant_context(tenant.id):
        changes = [store.Change(Method.PUT, one["resourceType"], one["id"], one) for one in examples]
        store.write(tenant.id, changes, at=now())

    assert kept(tenant) == made(*examples)

    with tenant_context(tenant.id):
        held = store.locked(tenant.id, [(one["resourceType"], one["id"]) for one in examples])
        gone = [store.Change(Method.DELETE, *name, None, version) for name, version in held.items()]
        store.write(tenant.id, gone, at=now() + timedelta(seconds=1))

    assert {name: sum(rows.values()) for name, rows in kept(tenant).items()} == dict.fromkeys(TABLES, 0)


def test_sort_date_at_the_edge_of_the_calendar_is_kept(tenant):
    first = write(tenant, {**EDGE, "effectivePeriod": {"end": "9999"}})
    again = write(tenant, {**EDGE, "effectivePeriod": {"end": "9998"}}, later=1)
    early = write(tenant, EDGE, later=2)

    assert datetime.fromisoformat(first.sort_date) == first.last_updated
    assert again.sort_date == "9999-01-01T00:00:00.000000+00:00"
    assert early.sort_date == "0001-01-01T00:00:01.000000+00:00"
    with tenant_context(tenant.id):
        assert Resource.objects.get(tenant_id=tenant.id).sort_date == datetime.fromisoformat(early.sort_date)


def test_reindexing_makes_what_is_missing_and_nothing_else(tenant):
    other = factories.provision()
    examples = data.examples("Observation")[:5]
    for resource in (EDGE, *examples):
        first = write(tenant, resource)
    write(other, EDGE)
    write(tenant, {**EDGE, "id": "gone"})
    write(tenant, None, method=Method.DELETE, kind="Observation", fhir_id="gone", later=1)
    with tenant_context(tenant.id):
        rows = Resource.objects.filter(tenant_id=tenant.id)
        before = list(rows.order_by("id").values())
        for model, _ in TABLES.values():
            model.objects.filter(tenant_id=tenant.id).delete()
        rows.update(parameters="")
    out = io.StringIO()

    call_command("reindex_fhir", tenant=tenant.slug, stdout=out)
    call_command("reindex_fhir", tenant=str(tenant.id), stdout=out)

    assert kept(tenant) == made(EDGE, *examples)
    assert kept(other) == made(EDGE)
    with tenant_context(tenant.id):
        assert list(rows.order_by("id").values()) == [
            one if not one["deleted"] else {**one, "parameters": ""} for one in before
        ]
        assert rows.get(fhir_id=first.fhir_id).version == 1
    assert out.getvalue().endswith("6 resources, done\n")


def test_upgrade_lets_old_observations_be_found_by_patient_and_code(tenant):
    """As those were that the version before wrote; a thousand are read at a time."""
    write(tenant, EDGE)
    write(tenant, {**EDGE, "id": "of-eva", "subject": {"reference": "Patient/eva"}})
    write(tenant, {**EDGE, "id": "gone", "subject": {"reference": "Patient/eva"}})
    write(tenant, None, method=Method.DELETE, kind="Observation", fhir_id="gone")
    (code,) = EDGE["code"]["coding"]
    system_code = keys.system_code_key(PARAMETERS["Observation", "code"].number, code["system"], code["code"])
    key = keys.patients_code_key(keys.target_key("Patient", "eva"), system_code)
    before = kept(tenant)
    with tenant_context(tenant.id):
        assert Posting.objects.filter(tenant_id=tenant.id, key=key).delete()[0] == 1
    upgrade = import_module("fhir_api.migrations.0009_by_patient_and_code")
    for _ in range(2):
        upgrade.add_entries(None, SimpleNamespace(connection=connections["owner"]))
    connections["owner"].close()
    assert kept(tenant) == before


def test_reindexing_of_no_tenant_is_refused():
    with pytest.raises(CommandError, match="no tenant 'nobody-there'"):
        call_command("reindex_fhir", tenant="nobody-there")


@pytest.mark.parametrize("number", [-1, 10**20])
def test_number_of_no_row_is_refused(number):
    with pytest.raises(CommandError, match="--after takes a whole number"):
        call_command("reindex_fhir", tenant=factories.provision().slug, after=number)


def test_more_resources_than_one_statement_writes_are_written_in_one_transaction(tenant):
    names = [f"p{number}" for number in range(1_001)]
    with tenant_context(tenant.id):
        changes = [
            store.Change(Method.POST, "Practitioner", one, {"resourceType": "Practitioner", "active": True, "id": one})
            for one in names
        ]
        versions = store.write(tenant.id, changes, at=now())

    assert [one.fhir_id for one in versions] == names
    with tenant_context(tenant.id):
        rows = {row.id: row.fhir_id for row in Resource.objects.filter(tenant_id=tenant.id)}
        assert {one.row: one.fhir_id for one in versions} == rows
        assert Posting.objects.filter(tenant_id=tenant.id).values("resource_id").distinct().count() == len(names)
