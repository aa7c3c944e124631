"""Facts about resources: their kinds, how they name what they are about, and that many of them cost one trip."""

import json
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from core import pipeline
from core.actor import system_actor
from core.clock import now
from core.db import bind_tenant, tenant_context
from core.ids import uuid7
from fhir_api import events
from fhir_api.models import Method
from fhir_api.resources.types import NUMBERS
from fhir_api.store import Version
from ledger import public as ledger
from tests.factories import provision
from webhooks.models import Event, NewEvent, ResourceSequence


@pytest.fixture
def tenant():
    return provision()


def version(type_name="Patient", fhir_id=None, number=1):
    return Version(0, type_name, fhir_id or str(uuid4()), number, now(), Method.PUT, b"{}")


def record(tenant, written):
    with transaction.atomic():
        bind_tenant(tenant.id)
        return events.facts(system_actor(tenant.id, request_id="request-9"), written, now())


def told(tenant, *facts):
    """What receivers would get of these facts, by the fact's resource."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, resource_id__in=[fact.resource_id for fact in facts])
        return [json.loads(bytes(event.body)) for event in found.order_by("sequence", "id")]


def test_every_type_has_three_kinds_and_a_class_of_data():
    kinds = {name: kind for name, kind in ledger.catalogue().items() if name.startswith("fhir.")}
    assert set(kinds) == {f"fhir.{name}.{verb}" for name in NUMBERS for verb in ("created", "updated", "deleted")}
    assert kinds["fhir.Observation.updated"].data_class == "phi"
    assert kinds["fhir.Practitioner.created"].data_class == "personal"
    assert kinds["fhir.Location.deleted"].data_class == "none"
    assert ledger.representation_of("fhir.Patient.created") is None


def test_fact_of_a_uuid_keeps_it_and_leads_to_the_resource(tenant):
    fhir_id = str(uuid4())
    (fact,) = record(tenant, [("created", version(fhir_id=fhir_id))])
    (message,) = told(tenant, fact)
    assert message["type"] == "fhir.Patient.created"
    assert message["request_id"] == "request-9"
    assert message["data"] == {
        "object": {
            "type": "Patient",
            "id": fhir_id,
            "reference": f"Patient/{fhir_id}",
            "version": 1,
            "href": f"/fhir/R4/Patient/{fhir_id}",
        }
    }


@pytest.mark.parametrize("fhir_id", ["pat-1", "A" * 64, "0199F2C0-5B1E-7C3A-9D44-0A6C2F1E8B90", "1.2.840"])
def test_fact_of_another_id_is_named_by_its_reference(tenant, fhir_id):
    (fact,) = record(tenant, [("updated", version(fhir_id=fhir_id, number=3))])
    (again,) = record(tenant, [("deleted", version(fhir_id=fhir_id, number=4))])
    assert fact.resource_id == again.resource_id == events.resource_id("Patient", fhir_id)
    assert fact.resource_id != events.resource_id("Encounter", fhir_id)
    updated, deleted = told(tenant, fact)
    assert updated["data"]["object"]["href"] == f"/fhir/R4/Patient/{fhir_id}"
    assert deleted["data"]["object"]["reference"] == f"Patient/{fhir_id}"
    assert "href" not in deleted["data"]["object"]
    assert (updated["sequence"], deleted["sequence"]) == ("1".zfill(15), "2".zfill(15))


def test_ids_that_differ_in_case_are_two_resources():
    small = str(uuid7())
    assert events.resource_id("Patient", small) == UUID(small)
    assert events.resource_id("Patient", small.upper()) != UUID(small)


def test_many_facts_take_one_trip_and_are_all_told(tenant):
    written = [("created", version("Observation", f"o-{number}")) for number in range(3000)]
    trips = []
    pipeline.observers.append(trips.append)
    try:
        made = record(tenant, written)
    finally:
        pipeline.observers.remove(trips.append)
    assert len(trips) == 1
    assert len({fact.id for fact in made}) == 3000
    with tenant_context(tenant.id):
        assert ledger.Event.objects.filter(tenant_id=tenant.id, type="fhir.Observation.created").count() == 3000
        assert Event.objects.filter(tenant_id=tenant.id, type="fhir.Observation.created").count() == 3000
        assert NewEvent.objects.filter(tenant_id=tenant.id, type="fhir.Observation.created").count() <= 3000
        assert ResourceSequence.objects.filter(tenant_id=tenant.id, last=1).count() >= 3000
    (message,) = told(tenant, made[1999])
    assert message["data"]["object"]["href"] == "/fhir/R4/Observation/o-1999"


def test_one_and_many_write_the_same(tenant):
    (alone,) = record(tenant, [("created", version(fhir_id="alone"))])
    together, _ = record(tenant, [("created", version(fhir_id="together")), ("created", version(fhir_id="other"))])
    with tenant_context(tenant.id):
        rows = [ledger.Event.objects.get(tenant_id=tenant.id, id=fact.id) for fact in (alone, together)]
    for name in ("type", "version", "resource_type", "resource_version", "subject_id", "subject_kind", "request_id"):
        assert getattr(rows[0], name) == getattr(rows[1], name), name
    one, many = told(tenant, alone) + told(tenant, together)
    assert set(one) == set(many)
    assert [*one["data"]["object"]] == [*many["data"]["object"]]


def test_resource_that_changes_twice_in_one_trip_is_told_in_order(tenant):
    written = [("created", version(fhir_id="twice", number=1)), ("created", version(fhir_id="once"))]
    written.append(("updated", version(fhir_id="twice", number=2)))
    first, _, second = record(tenant, written)
    assert first.resource_id == second.resource_id
    assert [message["type"] for message in told(tenant, first)] == ["fhir.Patient.created", "fhir.Patient.updated"]


def test_rollback_takes_many_facts_along(tenant):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        bind_tenant(tenant.id)
        events.facts(system_actor(tenant.id), [("created", version(fhir_id=f"gone-{n}")) for n in range(10)], now())
        raise ZeroDivisionError
    with tenant_context(tenant.id):
        assert not ledger.Event.objects.filter(tenant_id=tenant.id, type__startswith="fhir.").exists()
        assert not Event.objects.filter(tenant_id=tenant.id, type__startswith="fhir.").exists()


def test_no_facts_are_no_trip(tenant):
    assert record(tenant, []) == []
