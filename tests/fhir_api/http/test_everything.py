"""`Patient/[id]/$everything`: the compartment and what it refers to, in pages, narrowed as asked, and recorded."""

import pytest

from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber

CLASS = {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB"}


RESOLVED = {
    "clinicalStatus": {
        "coding": [{"system": "http://terminology.hl7.org/CodeSystem/condition-clinical", "code": "resolved"}]
    }
}


def encounter(subject, start, **more):
    return {
        "resourceType": "Encounter",
        "status": "finished",
        "class": CLASS,
        "subject": {"reference": subject},
        "period": {"start": start, "end": start},
        **more,
    }


def condition(subject, **more):
    return {"resourceType": "Condition", "subject": {"reference": subject}, **more}


class Record:
    """Two patients of one clinic; each resource of the first by a name of ours."""

    def __init__(self):
        self.doctor = doctor = prescriber()
        self.names = {}
        keep = self.keep
        keep("place", {"resourceType": "Location", "name": "Ward"})
        keep("clinic", {"resourceType": "Organization", "name": "Clinic"})
        keep("nurse", {"resourceType": "Practitioner", "name": [{"family": "Nurse"}]})
        keep("unused", {"resourceType": "Practitioner", "name": [{"family": "Unused"}]})
        keep(
            "role",
            {
                "resourceType": "PractitionerRole",
                "practitioner": {"reference": self.of("nurse")},
                "organization": {"reference": self.of("clinic")},
            },
        )
        keep("own", patient())
        keep("other", patient())
        own, other = self.of("own"), self.of("other")
        keep("twin", patient(link=[{"other": {"reference": own}, "type": "seealso"}]))
        visit = {"location": [{"location": {"reference": self.of("place")}}]}
        keep("visit 2019", encounter(own, "2019-03-01", **visit))
        keep("visit 2021", encounter(own, "2021-03-01", participant=[{"individual": {"reference": self.of("role")}}]))
        keep("seen 2020", observation(own, effectiveDateTime="2020-05-01", focus=[{"reference": other}]))
        keep("undated", observation(own, encounter={"reference": self.of("visit 2019")}))
        keep("done by him", observation(other, performer=[{"reference": own}], effectiveDateTime="2020-06-01"))
        keep("chronic", condition(own, onsetDateTime="2010-01-01"))
        keep("over", condition(own, onsetDateTime="2010-01-01", abatementDateTime="2011-01-01", **RESOLVED))
        keep("theirs", observation(other, effectiveDateTime="2020-05-01"))
        keep("gone", observation(own))
        assert doctor.delete(f"/{self.of('gone')}").status_code == 204

    def keep(self, name, resource):
        made = self.doctor.made(resource)
        self.names[f"{made['resourceType']}/{made['id']}"] = name

    def of(self, name):
        return next(address for address, known in self.names.items() if known == name)

    def asked(self, query="", api=None):
        answer = (api or self.doctor).get(f"/{self.of('own')}/$everything{query}")
        assert answer.status_code == 200, answer.content
        return answer.json()

    def told(self, bundle, mode=""):
        return [
            self.names[f"{one['resource']['resourceType']}/{one['resource']['id']}"]
            for one in bundle.get("entry", [])
            if mode in ("", one["search"]["mode"]) and one["search"]["mode"] != "outcome"
        ]


HIS = {"own", "twin", "visit 2019", "visit 2021", "seen 2020", "undated", "done by him", "chronic", "over"}
REFERRED = {"place", "role", "nurse", "clinic", "other"}


@pytest.fixture(scope="module")
def record():
    return Record()


def following(bundle):
    (found,) = [link["url"] for link in bundle["link"] if link["relation"] == "next"]
    return found.partition("/fhir/R4")[2]


def has_next(bundle):
    return any(link["relation"] == "next" for link in bundle["link"])


def test_everything_is_the_compartment_and_what_it_refers_to(record):
    bundle = record.asked()
    assert (bundle["type"], record.told(bundle)[0]) == ("searchset", "own")
    assert set(record.told(bundle, "match")) == HIS
    assert set(record.told(bundle, "include")) == REFERRED
    assert len(record.told(bundle)) == len(HIS | REFERRED)
    assert bundle["link"][0]["url"].endswith(f"/fhir/R4/{record.of('own')}/$everything")


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_pages_hold_each_resource_once(record, count):
    bundle = record.asked(f"?_count={count}")
    pages = [record.told(bundle, "match")]
    while has_next(bundle):
        bundle = record.doctor.get(following(bundle)).json()
        pages.append(record.told(bundle, "match"))
    told = [name for page in pages for name in page]
    assert (told[0], set(told), len(told)) == ("own", HIS, len(HIS))
    assert all(len(page) == count for page in pages[:-1])


def test_pages_stay_as_they_were_while_others_write():
    doctor = prescriber()
    own = doctor.made(patient())["id"]
    seen = [doctor.made(observation(f"Patient/{own}", effectiveDateTime=f"2020-01-0{n}"))["id"] for n in range(1, 6)]
    bundle = doctor.get(f"/Patient/{own}/$everything?_count=2").json()
    told = [one["resource"]["id"] for one in bundle["entry"]]
    doctor.made(observation(f"Patient/{own}", effectiveDateTime="2020-01-01"))
    doctor.delete(f"/Observation/{seen[0]}")
    while has_next(bundle):
        bundle = doctor.get(following(bundle)).json()
        told += [one["resource"]["id"] for one in bundle["entry"]]
    assert told == [own, *reversed(seen[1:])]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?_type=Encounter", {"visit 2019", "visit 2021"}),
        ("?_type=Encounter,Location", {"visit 2019", "visit 2021", "place"}),
        ("?_type=Condition&_type=Patient", {"own", "twin", "chronic", "over"}),
        ("?_type=Encounter&start=2020", {"visit 2021"}),
        ("?_type=Encounter&end=2020-12-31", {"visit 2019"}),
        ("?_type=Encounter&start=2019-03&end=2019-03", {"visit 2019"}),
        ("?_type=Observation&start=2020-05&end=2020-05", {"seen 2020", "undated"}),
        ("?_type=Condition&start=2015", {"chronic"}),
        ("?_type=Condition&end=2009", set()),
        ("?_type=Patient&start=2030", {"own", "twin"}),
        ("?_since=2100-01-01T00:00:00Z", set()),
        ("?_type=Condition&_since=2020-01-01T00:00:00Z", {"chronic", "over"}),
    ],
)
def test_parameters_narrow(record, query, expected):
    assert set(record.told(record.asked(query))) == expected


def test_since_leaves_out_what_has_not_changed():
    doctor = prescriber()
    made = doctor.made(patient())
    own = made["id"]
    first, second = (doctor.made(observation(f"Patient/{own}")) for _ in range(2))
    moment = second["meta"]["lastUpdated"]
    changed = doctor.put(f"/Observation/{first['id']}", {**first, "status": "amended"})
    assert changed.status_code == 200
    bundle = doctor.get(f"/Patient/{own}/$everything?_since={changed.json()['meta']['lastUpdated']}").json()
    assert [one["resource"]["id"] for one in bundle["entry"]] == [first["id"]]
    assert moment < changed.json()["meta"]["lastUpdated"]


def test_post_takes_parameters(record):
    body = {
        "resourceType": "Parameters",
        "parameter": [
            {"name": "start", "valueDate": "2020"},
            {"name": "_type", "valueCode": "Encounter"},
            {"name": "_type", "valueCode": "Observation"},
            {"name": "_count", "valueInteger": 1},
        ],
    }
    answer = record.doctor.post(f"/{record.of('own')}/$everything", body)
    assert (answer.status_code, len(record.told(answer.json()))) == (200, 1)
    assert "start=2020" in answer.json()["link"][0]["url"]
    assert record.doctor.get(following(answer.json())).status_code == 200
    assert record.doctor.post(f"/{record.of('own')}/$everything").status_code == 200


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?start=yesterday", "invalid_time"),
        ("?end=2020-1", "invalid_time"),
        ("?end=2020-02-30", "invalid_time"),
        ("?start=9999-12-31T23:59:59Z", "invalid_time"),
        ("?end=9999", "invalid_time"),
        ("?start=2021&end=2020", "invalid_search"),
        ("?_since=2020", "invalid_time"),
        ("?_type=Slot", "invalid_search"),
        ("?_count=0", "invalid_search"),
        ("?_count=-1", "invalid_search"),
        ("?_count=many", "invalid_search"),
        ("?start=2020&start=2021", "invalid_search"),
        ("?_cursor=nonsense", "invalid_cursor"),
        ("?start=%00", "invalid_search"),
    ],
)
def test_bad_input_is_400(record, query, code):
    answer = record.doctor.get(f"/{record.of('own')}/$everything{query}")
    assert (answer.status_code, code_of(answer)) == (400, code)


def test_bad_date_is_told_what_a_date_is(record):
    answer = record.doctor.get(f"/{record.of('own')}/$everything?start=zz")
    assert answer.json()["issue"][0]["diagnostics"] == (
        "start is a date, as 2026, 2026-01 or 2026-01-31, or an instant: 2026-01-31T12:30:00Z."
    )


@pytest.mark.parametrize(
    "body",
    [
        {"resourceType": "Patient"},
        {"resourceType": "Parameters", "parameter": {}},
        {"resourceType": "Parameters", "parameter": [{}]},
        {"resourceType": "Parameters", "parameter": [{"name": "_count", "valueInteger": "1"}]},
        {"resourceType": "Parameters", "parameter": [{"name": "start", "valueString": "2020"}]},
    ],
)
def test_bad_parameters_are_400(record, body):
    answer = record.doctor.post(f"/{record.of('own')}/$everything", body)
    assert answer.status_code == 400
    assert code_of(answer)


def test_unknown_parameters_are_told_or_refused(record):
    bundle = record.asked("?colour=red&_count=1")
    assert bundle["entry"][-1]["search"]["mode"] == "outcome"
    assert "colour" not in bundle["link"][0]["url"]
    answer = record.doctor.get(f"/{record.of('own')}/$everything?colour=red", Prefer="handling=strict")
    assert (answer.status_code, code_of(answer)) == (400, "unknown_parameter")


def test_count_above_the_most_is_told(record):
    bundle = record.asked("?_count=9999")
    assert bundle["entry"][-1]["resource"]["issue"][0]["code"] == "too-costly"
    assert "_count=1000" in bundle["link"][0]["url"]


def test_link_opens_for_its_patient_only(record):
    path = following(record.asked("?_count=1"))
    other = path.replace(record.of("own"), record.of("other"))
    assert code_of(record.doctor.get(other)) == "invalid_cursor"


def test_absent_deleted_and_other_types(record):
    doctor = record.doctor
    assert doctor.get("/Patient/nobody/$everything").status_code == 404
    gone = doctor.made(patient())["id"]
    doctor.delete(f"/Patient/{gone}")
    answer = doctor.get(f"/Patient/{gone}/$everything")
    assert (answer.status_code, answer.headers["ETag"]) == (410, 'W/"2"')
    answer = doctor.get(f"/{record.of('chronic')}/$everything")
    assert (answer.status_code, code_of(answer)) == (404, "unknown_operation")
    assert doctor.get("/Patient/a_b/$everything").status_code == 400
    assert doctor.put(f"/{record.of('own')}/$everything").status_code == 405


def test_everything_without_an_id_is_of_the_patient_the_token_is_for(record):
    person, _ = factories.member(record.doctor.tenant, ["prescriber"])
    own = record.of("own").partition("/")[2]
    token = factories.bearer(person, tenant=record.doctor.tenant, scopes="patient/*.rs", patient=own)
    api = Fhir(token, record.doctor.tenant)
    bundle = api.get("/Patient/$everything")
    assert bundle.status_code == 200, bundle.content
    assert record.told(bundle.json()) == record.told(record.asked(api=api))
    paged = api.get("/Patient/$everything?_count=2").json()
    assert record.told(api.get(following(paged)).json())
    refused = record.doctor.get("/Patient/$everything")
    assert (refused.status_code, refused.json()["issue"][0]["code"]) == (404, "not-supported")


def test_another_tenants_patient_is_absent(record):
    assert prescriber().get(f"/{record.of('own')}/$everything").status_code == 404


def test_types_out_of_reach_stay_out(record):
    person, _ = factories.member(record.doctor.tenant, ["prescriber"])
    api = Fhir(factories.bearer(person, scopes="user/Patient.rs user/Encounter.rs"), record.doctor.tenant)
    assert set(record.told(record.asked(api=api))) == {"own", "twin", "visit 2019", "visit 2021"}
    blind = Fhir(factories.bearer(person, scopes="user/Encounter.rs"), record.doctor.tenant)
    assert blind.get(f"/{record.of('own')}/$everything").status_code == 403
    desk, _ = factories.member(record.doctor.tenant, ["clinic_receptionist"])
    receptionist = Fhir(factories.bearer(desk), record.doctor.tenant)
    assert set(record.told(record.asked(api=receptionist))) == {"own", "twin"}


def test_everything_leaves_one_record_of_all_patients_concerned(record):
    def log():
        with tenant_context(record.doctor.tenant.id):
            return list(AccessRecord.objects.filter(interaction="everything").order_by("created_at", "id"))

    before = len(log())
    record.asked("?_type=Patient,Observation&start=2020-05&end=2020-05")
    record.doctor.get("/Patient/nobody/$everything")
    found, absent = log()[before:]
    ids = sorted(record.of(name).partition("/")[2] for name in ("own", "other", "twin"))
    assert (found.resource_type, found.resource_id) == ("Patient", record.of("own").partition("/")[2])
    assert (found.patients, found.parameters, found.outcome) == (ids, ["_type", "end", "start"], 200)
    assert (absent.resource_id, absent.patients, absent.outcome) == ("nobody", [], 404)


def test_everything_is_read_in_a_batch(record):
    entry = {"request": {"method": "GET", "url": f"{record.of('own')}/$everything?_type=Condition"}}
    answer = record.doctor.post("", {"resourceType": "Bundle", "type": "batch", "entry": [entry]})
    assert set(record.told(answer.json()["entry"][0]["resource"])) == {"chronic", "over"}
    asked = {"resourceType": "Parameters", "parameter": [{"name": "_type", "valueCode": "Condition"}]}
    entry = {"request": {"method": "POST", "url": f"{record.of('own')}/$everything"}, "resource": asked}
    answer = record.doctor.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [entry]})
    assert set(record.told(answer.json()["entry"][0]["resource"])) == {"chronic", "over"}


def test_capability_statement_names_the_operation(record):
    (rest,) = record.doctor.get("/metadata").json()["rest"]
    named = {one["type"]: [op["name"] for op in one.get("operation", ())] for one in rest["resource"]}
    assert [name for name, operations in named.items() if "everything" in operations] == ["Patient", "Encounter"]


def test_everything_of_an_encounter(record):
    visit = record.of("visit 2019")
    bundle = record.doctor.get(f"/{visit}/$everything").json()
    assert record.told(bundle)[0] == "visit 2019"
    assert set(record.told(bundle, "match")) == {"visit 2019", "undated"}
    assert set(record.told(bundle, "include")) == {"own", "place"}
    told = record.doctor.get(f"/{visit}/$everything?_type=Observation").json()
    assert set(record.told(told)) == {"undated"}
    first = record.doctor.get(f"/{visit}/$everything?_count=1").json()
    second = record.doctor.get(following(first)).json()
    assert (record.told(first, "match"), record.told(second, "match")) == (["visit 2019"], ["undated"])
    strict = record.doctor.get(f"/{visit}/$everything?start=2020", Prefer="handling=strict")
    assert (strict.status_code, code_of(strict)) == (400, "unknown_parameter")
    assert record.doctor.get("/Encounter/nobody/$everything").status_code == 404
    person, _ = factories.member(record.doctor.tenant, ["prescriber"])
    for name, status in (("own", 200), ("other", 404)):
        bound = {"tenant": record.doctor.tenant, "patient": record.of(name).partition("/")[2]}
        api = Fhir(factories.bearer(person, scopes="patient/*.rs", **bound), record.doctor.tenant)
        assert api.get(f"/{visit}/$everything").status_code == status
