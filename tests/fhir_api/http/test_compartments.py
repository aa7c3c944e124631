"""Search in compartments equals the same search by hand, whoever asks; its links, records and refusals."""

import pytest

from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from fhir_api.compartments import types_of
from fhir_api.definitions.facts import COMPARTMENTS
from organizations.models import Membership
from tests import factories
from tests.fhir_api import data
from tests.fhir_api.clients import BASE, Fhir, code_of, issue_type, observation, patient
from tests.fhir_api.search import record
from tests.organizations.oauth.clients import machine
from tests.organizations.oauth.flows import machine_token

WHOSE = {
    "Patient": ("example", "f001", "pat1"),
    "Encounter": ("example", "f001"),
    "Practitioner": ("example", "f007", "f201"),
    "RelatedPerson": ("peter",),
    "Device": ("example",),
}
ITSELF = ("Patient", "Encounter", "Practitioner", "RelatedPerson")
MORE = [
    patient(id="example", name=[{"family": "Chalmers"}]),
    observation("Device/example", id="of-device", device={"reference": "Device/example"}),
    observation("Patient/example", id="by-peter", performer=[{"reference": "RelatedPerson/peter"}]),
    observation("Patient/example", id="by-device", device={"reference": "Device/example"}),
    observation("Patient/f001", id="by-example", performer=[{"reference": "Patient/example"}]),
    patient(id="twin", link=[{"other": {"reference": "Patient/example"}, "type": "seealso"}]),
    {
        "resourceType": "Encounter",
        "id": "escorted",
        "status": "finished",
        "class": {"code": "AMB"},
        "subject": {"reference": "Patient/f001"},
        "participant": [{"individual": {"reference": "RelatedPerson/peter"}}],
    },
    {"resourceType": "RelatedPerson", "id": "peter", "patient": {"reference": "Patient/example"}},
    {"resourceType": "Device", "id": "example", "patient": {"reference": "Patient/f001"}},
]


class Clinic:
    """The official examples in one tenant, and those who ask."""

    def __init__(self):
        self.tenant = factories.provision("provider")
        more = {(one["resourceType"], one["id"]) for one in MORE}
        given = [
            one for name in ("r4-examples.ndjson.gz", "r4-more-examples.ndjson.gz") for one in data.read_lines(name)
        ]
        record.put(self.tenant.id, [one for one in given if (one["resourceType"], one["id"]) not in more] + MORE)
        self.person, _ = factories.member(self.tenant, ["prescriber"])
        self.user = Fhir(factories.bearer(self.person), self.tenant)
        client, secret = machine(self.tenant, scopes=["system/*.rs"])
        membership = Membership(tenant=self.tenant, service_account=client.service_account, roles=["prescriber"])
        membership.save()
        membership.accept(membership.created_at)
        membership.save()
        self.machine = Fhir(machine_token(client, secret, scope="system/*.rs").json()["access_token"])
        self.patient = self.bound("patient/*.rs")

    def bound(self, scopes, whose="example"):
        return Fhir(factories.bearer(self.person, scopes=scopes, tenant=self.tenant, patient=whose))

    def names(self, api, path, mode="match"):
        answer = api.get(path)
        assert answer.status_code == 200, (path, answer.content)
        return record.names(answer.json(), mode)

    def by_hand(self, api, type_name, kind, fhir_id, query=""):
        """What the searches of a type find that name the compartment's resource, one for each way into it."""
        codes = COMPARTMENTS[kind].get(type_name, ())
        asked = [f"/{type_name}?{code}={kind}/{fhir_id}&_count=200{query}" for code in codes]
        if type_name == kind and kind in ITSELF:
            asked.append(f"/{type_name}?_id={fhir_id}{query}")
        return {name for path in asked for name in self.names(api, path)}


@pytest.fixture(scope="module")
def clinic():
    """Its machine gets a token, however many requests of other files came from this address within the minute."""
    from django.conf import settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "RATE_LIMIT_OVERRIDES", {**settings.RATE_LIMIT_OVERRIDES, "address": 1_000_000})
        return Clinic()


@pytest.mark.parametrize("kind", WHOSE)
@pytest.mark.parametrize("asker", ["user", "machine", "patient"])
def test_search_in_a_compartment_finds_what_the_search_by_hand_finds(clinic, kind, asker):
    api, found = getattr(clinic, asker), []
    for fhir_id in WHOSE[kind]:
        if api.get(f"/{kind}/{fhir_id}").status_code == 404:
            continue
        everything = set()
        for type_name in types_of(kind):
            inside = clinic.names(api, f"/{kind}/{fhir_id}/{type_name}?_count=200")
            assert sorted(inside) == sorted(clinic.by_hand(api, type_name, kind, fhir_id)), (fhir_id, type_name)
            everything |= set(inside)
        assert set(clinic.names(api, f"/{kind}/{fhir_id}/*?_count=200")) == everything
        found += everything
    assert len(found) > 1 or (asker, kind) == ("patient", "Device"), "something was found at all"


def test_patient_of_a_token_meets_his_own_compartment_in_those_of_others(clinic):
    seen = clinic.names(clinic.patient, "/Practitioner/example/*?_count=200")
    whole = clinic.names(clinic.user, "/Practitioner/example/*?_count=200")
    assert set(seen) < set(whole)
    assert clinic.patient.get("/Patient/f001/Observation").status_code == 404
    assert clinic.patient.get("/Encounter/escorted/*").status_code == 404


def test_parameters_work_inside_as_outside(clinic):
    for query in (
        "status=final",
        "code=http://loinc.org|85354-9",
        "patient.name=chalmers",
        "_has:Provenance:target:_id=nobody",
        "date=ge2010",
        "category=vital-signs&status:not=cancelled",
    ):
        inside = clinic.names(clinic.user, f"/Patient/example/Observation?{query}&_count=200")
        assert set(inside) == clinic.by_hand(clinic.user, "Observation", "Patient", "example", f"&{query}"), query
    ordered = "_sort=-date&_count=200"
    outside = clinic.names(clinic.user, f"/Observation?subject=Patient/example&{ordered}")
    inside = clinic.names(clinic.user, f"/Patient/example/Observation?{ordered}")
    assert [one for one in inside if one in outside] == outside
    included = clinic.names(clinic.user, "/Patient/example/Observation?_include=Observation:subject", "include")
    assert "Patient/example" in included
    total = clinic.user.get("/Patient/example/Observation?_summary=count").json()["total"]
    assert total == len(clinic.names(clinic.user, "/Patient/example/Observation?_count=200")) > 5


def test_all_types_of_a_compartment_may_be_narrowed_by_type(clinic):
    found = clinic.names(clinic.user, "/Patient/example/*?_type=Condition,Observation&_count=200")
    assert {name.partition("/")[0] for name in found} == {"Condition", "Observation"}
    refused = clinic.user.get("/Patient/example/*?_type=Location")
    assert (refused.status_code, code_of(refused)) == (400, "invalid_search")


def test_pages_keep_the_address_of_the_compartment(clinic):
    whole = clinic.names(clinic.user, "/Patient/example/Observation?_count=200")
    found, last, path = [], "", "/Patient/example/Observation?_count=3"
    while path:
        answer = clinic.user.get(path).json()
        found += record.names(answer)
        links = {link["relation"]: link["url"] for link in answer["link"]}
        assert links["self"].endswith(path) or "_cursor" in links["self"]
        assert all("/Patient/example/Observation?" in url for url in links.values())
        path = links.get("next", "").partition(BASE)[2]
        last = links.get("next", "") or last
    assert found == whole
    elsewhere = last.partition(BASE)[2].replace("/Patient/example/", "/Patient/f001/")
    assert code_of(clinic.user.get(elsewhere)) == "invalid_cursor"
    assert clinic.user.get("/Patient/example/*").json()["link"][0]["url"].endswith("/Patient/example/*")


def test_form_is_taken_at_search(clinic):
    media = "application/x-www-form-urlencoded"
    answer = clinic.user.post("/Patient/example/Observation/_search", b"status=final&_count=200", media=media)
    assert record.names(answer.json()) == clinic.names(
        clinic.user, "/Patient/example/Observation?status=final&_count=200"
    )
    answer = clinic.user.post("/Encounter/example/*/_search", b"", media=media)
    assert record.names(answer.json()) == clinic.names(clinic.user, "/Encounter/example/*")


def test_compartment_of_what_is_not_there_is_404_and_of_what_was_deleted_410(clinic):
    gone = clinic.user.made(patient())
    assert clinic.user.delete(f"/Patient/{gone['id']}").status_code == 204
    for member in ("Observation", "*"):
        answer = clinic.user.get(f"/Patient/nobody/{member}")
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (404, "resource_not_found", "not-found")
        answer = clinic.user.get(f"/Patient/{gone['id']}/{member}")
        assert (answer.status_code, issue_type(answer), answer.headers["ETag"]) == (410, "deleted", 'W/"2"')


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/Patient/example/Location", "not_in_compartment"),
        ("/Patient/example/Device", "not_in_compartment"),
        ("/Device/example/Device", "not_in_compartment"),
        ("/Patient/example/Basic", "unknown_resource_type"),
        ("/Patient/example/$nothing", "route_not_found"),
        ("/Observation/by-peter/Observation", "route_not_found"),
    ],
)
def test_address_that_is_no_compartment_search_is_404_not_supported(clinic, path, code):
    answer = clinic.user.get(path)
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (404, code, "not-supported")


def test_scopes_and_roles_narrow_a_compartment_as_a_search(clinic):
    narrow = Fhir(factories.bearer(clinic.person, scopes="user/Patient.rs user/Condition.rs", tenant=clinic.tenant))
    assert narrow.get("/Patient/example/Condition").status_code == 200
    assert narrow.get("/Patient/example/Observation").status_code == 403
    assert narrow.get("/Practitioner/example/Condition").status_code == 403, "whether there is one, it may not know"
    found = clinic.names(narrow, "/Patient/example/*?_count=200")
    assert {name.partition("/")[0] for name in found} == {"Patient", "Condition"}
    own = clinic.bound("patient/Observation.rs")
    assert clinic.names(own, "/Patient/example/Observation?_count=200") == clinic.names(
        clinic.user, "/Patient/example/Observation?_count=200"
    )
    desk, _ = factories.member(clinic.tenant, ["clinic_receptionist"])
    receptionist = Fhir(factories.bearer(desk), clinic.tenant)
    assert receptionist.get("/Patient/example/Observation").status_code == 403
    assert set(clinic.names(receptionist, "/Patient/example/*")) == {"Patient/example", "Patient/twin"}


def test_search_in_a_compartment_leaves_a_record_of_the_patient(clinic):
    def records():
        with tenant_context(clinic.tenant.id):
            rows = AccessRecord.objects.filter(tenant_id=clinic.tenant.id).order_by("created_at", "id")
            return list(rows.values_list("interaction", "resource_type", "parameters", "patients", "count", "outcome"))

    before = len(records())
    clinic.names(clinic.user, "/Patient/twin/Observation?status=final")
    clinic.user.get("/Patient/nobody/Observation")
    clinic.names(clinic.user, "/Practitioner/example/PractitionerRole")
    assert records()[before:] == [
        ("search", "Observation", ["_compartment:Patient", "status"], ["twin"], 0, 200),
        ("search", "Patient", [], [], 0, 404),
    ]


def test_batch_may_hold_a_search_in_a_compartment(clinic):
    entry = {"request": {"method": "GET", "url": "Encounter/example/Observation"}}
    answer = clinic.user.post("", {"resourceType": "Bundle", "type": "batch", "entry": [entry]}).json()
    assert record.names(answer["entry"][0]["resource"]) == clinic.names(clinic.user, "/Encounter/example/Observation")


def test_compartments_are_those_of_the_official_definitions(clinic):
    official = {one["code"]: one for one in data.read("r4-compartments.json.gz")}
    for kind, definition in official.items():
        assert set(types_of(kind)) == {
            one["code"] for one in definition["resource"] if one.get("param") and one["code"] in COMPARTMENTS_TYPES
        }
    rest = clinic.user.get("/metadata").json()["rest"][0]
    assert sorted(rest["compartment"]) == sorted(one["url"] for one in official.values())


COMPARTMENTS_TYPES = {
    *(name for kind in COMPARTMENTS for name in types_of(kind)),
}
