"""Vital signs over HTTP, as the tenant's policy `fhir_vital_signs` says: refused, told of, or let be."""

import pytest

from bench.statements import recording
from core.actor import system_actor
from fhir_api.bundles.imports import Import, Item
from tests import factories
from tests.fhir_api.bundles.making import batch, entry, responses, statuses, transaction
from tests.fhir_api.clients import code_of, observation, patient, prescriber, vital_sign

PROFILE = "http://hl7.org/fhir/StructureDefinition/heartrate"
UNIT = "Observation.value.ofType(Quantity).code"
OUTCOME = "return=OperationOutcome"


def wards(policy=None):
    tenant = factories.provision("provider")
    if policy:
        address = f"/v1/tenants/{tenant.id}/configuration"
        answer = factories.as_member(tenant).patch(address, json={"policies": {"fhir_vital_signs": policy}})
        assert answer.status_code == 200, answer.content
    client = prescriber(tenant)
    client.subject = f"Patient/{client.made(patient())['id']}"
    return client


@pytest.fixture(scope="module")
def strict():
    return wards()


@pytest.fixture(scope="module")
def warned():
    return wards("warn")


@pytest.fixture(scope="module")
def free():
    return wards("off")


def pulse(client, unit="/min", **more):
    return vital_sign(client.subject, "8867-4", 70, unit, **more)


def told(outcome):
    return [(one["severity"], one["code"], *one.get("expression", ())) for one in outcome["issue"]]


def count(client):
    return client.get("/Observation?_summary=count").json()["total"]


def test_vital_sign_that_breaks_its_profile_is_refused_and_not_kept(strict):
    before = count(strict)
    answer = strict.post("/Observation", pulse(strict, "{beats}/min"))
    assert (answer.status_code, code_of(answer)) == (422, "invalid_resource")
    assert told(answer.json()) == [("error", "code-invalid", UNIT)]
    assert strict.put("/Observation/p-1", pulse(strict, "{beats}/min", id="p-1")).status_code == 422
    assert strict.get("/Observation/p-1").status_code == 404
    assert count(strict) == before


def test_broken_rule_of_the_profile_is_named(strict):
    answer = strict.post("/Observation", pulse(strict, effectiveDateTime="2026-01"))
    assert (answer.status_code, code_of(answer)) == (422, "vs-1")
    assert told(answer.json()) == [("error", "invariant", "Observation.effective.ofType(dateTime)")]


def test_patch_is_held_to_the_profile_of_the_outcome(strict):
    path = f"/Observation/{strict.made(pulse(strict))['id']}"
    answer = strict.patch(path, [{"op": "replace", "path": "/valueQuantity/code", "value": "Hz"}])
    assert (answer.status_code, told(answer.json())) == (422, [("error", "code-invalid", UNIT)])
    assert strict.get(path).json()["meta"]["versionId"] == "1"


def test_other_observations_are_not_held_to_profiles(strict):
    other = observation(strict.subject, meta={"profile": ["http://example.org/mine"]})
    assert strict.made(other)["meta"]["profile"] == ["http://example.org/mine"]


def test_profile_that_is_claimed_is_judged_without_its_code(strict):
    answer = strict.post("/Observation", observation(strict.subject, meta={"profile": [PROFILE]}))
    assert answer.status_code == 422
    expressions = {expression for _, _, expression in told(answer.json())}
    assert {"Observation.code", "Observation.category"} <= expressions


def test_entry_of_a_batch_is_refused_alone_and_a_transaction_as_a_whole(strict):
    good, bad = (entry("POST", "Observation", pulse(strict, unit)) for unit in ("/min", "Hz"))
    answer = strict.post("", batch(good, bad))
    assert statuses(answer) == [201, 422]
    place = "Bundle.entry[1].resource.value.ofType(Quantity).code"
    assert told(responses(answer)[1]["outcome"]) == [("error", "code-invalid", place)]
    before = count(strict)
    answer = strict.post("", transaction(good, bad))
    assert (answer.status_code, told(answer.json())) == (422, [("error", "code-invalid", place)])
    assert count(strict) == before


def test_import_refuses_what_breaks_a_profile_and_keeps_the_rest(strict):
    work = Import(system_actor(strict.tenant.id))
    resources = [pulse(strict, unit, id=f"i-{number}") for number, unit in enumerate(("/min", "Hz", "/min"))]
    for _ in work.take(Item(f"file:{number}", one) for number, one in enumerate(resources)):
        pass
    assert (work.tally.written, work.tally.refused) == (2, 1)
    assert work.tally.reasons[0].startswith(f"file:1: {UNIT}: ")


def test_warned_tenant_keeps_it_and_is_told_where_it_asks_for_the_outcome(warned):
    bad = pulse(warned, "Hz")
    warning = ("warning", "code-invalid", UNIT)
    answer = warned.post("/Observation", bad, Prefer=OUTCOME)
    assert (answer.status_code, told(answer.json())) == (201, [("information", "informational"), warning])
    assert warned.post("/Observation", bad).json()["resourceType"] == "Observation"
    assert told(warned.post("/Observation/$validate", bad).json()) == [warning]
    answer = warned.post("", transaction(entry("POST", "Observation", bad)), Prefer=OUTCOME)
    place = "Bundle.entry[0].resource.value.ofType(Quantity).code"
    (done,) = responses(answer)
    assert told(done["outcome"])[1:] == [("warning", "code-invalid", place)]
    good = warned.post("/Observation", pulse(warned), Prefer=OUTCOME)
    assert told(good.json()) == [("information", "informational")]


def test_free_tenant_keeps_it_and_is_told_nothing(free):
    bad = pulse(free, "Hz")
    answer = free.post("/Observation", bad, Prefer=OUTCOME)
    assert (answer.status_code, told(answer.json())) == (201, [("information", "informational")])
    assert told(free.post("/$validate", bad).json()) == [("information", "informational")]


def test_validation_tells_of_the_profile_as_an_error(strict):
    answer = strict.post("/Observation/$validate", pulse(strict, "Hz"))
    assert (answer.status_code, told(answer.json())) == (200, [("error", "code-invalid", UNIT)])


@pytest.mark.parametrize("version", ["", "|4.0.1"])
def test_validation_against_a_profile_that_is_asked_for_is_strict_whatever_the_policy(free, version):
    path = f"/Observation/$validate?profile={PROFILE}{version}"
    assert told(free.post(path, pulse(free)).json()) == [("information", "informational")]
    assert told(free.post(path, pulse(free, "Hz")).json()) == [("error", "code-invalid", UNIT)]
    errors = [("error", "not-supported")]
    assert told(free.post(f"/Patient/$validate?profile={PROFILE}", patient()).json()) == errors


def test_judging_costs_no_trip(strict, warned):
    trips = []
    for client, resource in (
        (strict, observation(strict.subject)),
        (strict, pulse(strict)),
        (warned, pulse(warned, "Hz")),
    ):
        client.made(resource)
        with recording() as record:
            client.made(resource)
        trips.append(len(record))
    assert len(set(trips)) == 1, trips
