"""Lists of requests on both sides, and the access records of reads."""

import pytest

from bench.statements import recording
from tests import factories
from tests.prescriptions.requests.desk import REQUESTS, answer, asked, reads
from tests.prescriptions.ward import Side, done, refused
from tests.prescriptions.ward import ward as made_ward


def listed(client, query=""):
    answer = client.get(f"{REQUESTS}{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


@pytest.fixture(scope="module")
def house():
    """A ward with a denied renewal of one prescription, and a question about another that waits."""
    ward = made_ward()
    first, second = ward.routed(), ward.routed()
    renewal = done(answer(ward, asked(ward, first), "denied", reason_code="too_soon"))
    return ward, renewal, asked(ward, second, "clarification", text="Which strength?")


def test_box_says_who_asks(house):
    ward, renewal, question = house
    newest_first = [question, renewal]
    assert listed(ward.prescriber) == listed(ward.prescriber, "?box=received") == newest_first
    assert listed(ward.pharmacist) == listed(ward.pharmacist, "?box=issued") == newest_first
    assert listed(ward.prescriber, "?box=issued") == listed(ward.pharmacist, "?box=received") == []
    assert ward.prescriber.get(f"{REQUESTS}?box=all").status_code == 400


@pytest.mark.parametrize("side", ["prescriber", "pharmacist"])
def test_filters_and_sorts(house, side):
    ward, renewal, question = house
    client = getattr(ward, side)
    for query, expected in (
        ("status=open", [question]),
        ("status=denied,approved", [renewal]),
        ("kind=renewal", [renewal]),
        ("kind=renewal,clarification", [question, renewal]),
        (f"prescription_id={question['prescription_id']}", [question]),
        (f"prescriber_id={ward.practitioner_id}", [question, renewal]),
        ("prescriber_id=nobody", []),
        ("from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00Z", [question, renewal]),
        ("from=2099-01-01T00:00:00Z", []),
        ("to=2020-01-01T00:00:00Z", []),
        ("sort=created_at", [renewal, question]),
        ("sort=-updated_at", [question, renewal]),
        ("fields=status", [{"id": one["id"], "status": one["status"]} for one in (question, renewal)]),
    ):
        assert listed(client, f"?{query}") == expected, query
    refused(client.get(f"{REQUESTS}?sort=kind"), 400, "unknown_sort")
    refused(client.get(f"{REQUESTS}?state=open"), 400, "unknown_parameter")
    assert client.get(f"{REQUESTS}?status=waiting").status_code == 400


def test_pages_follow_one_another(house):
    ward, renewal, question = house
    for client in (ward.prescriber, ward.pharmacist):
        page = client.get(f"{REQUESTS}?limit=1").json()
        assert (page["data"], page["has_more"]) == ([question], True)
        assert listed(client, f"?limit=1&cursor={page['next_cursor']}") == [renewal]


def test_foreign_tenants_see_nothing(house):
    _, renewal, _ = house
    for kind, role in (("provider", "prescriber"), ("pharmacy", "pharmacist")):
        stranger = Side(factories.provision(kind)).join(role)
        assert listed(stranger) == listed(stranger, "?box=issued") == listed(stranger, "?box=received") == []
        refused(stranger.get(f"{REQUESTS}/{renewal['id']}"), 404, "not_found")


@pytest.mark.parametrize("side", ["clinic", "pharmacy"])
@pytest.mark.parametrize("query", ["", "fields=status"])
def test_reads_leave_access_records(house, side, query):
    ward, renewal, _ = house
    tenant, client = getattr(ward, side), ward.prescriber if side == "clinic" else ward.pharmacist
    listed(client, f"?{query}")
    found = reads(tenant, "rx.list")[-1]
    assert (found.patients, found.count, found.resource_id) == ([ward.patient_id], 2, "")
    client.get(f"{REQUESTS}/{renewal['id']}?{query}")
    found = reads(tenant, "rx.read")[-1]
    assert (found.patients, found.count, found.resource_id) == ([ward.patient_id], 1, renewal["prescription_id"])


@pytest.mark.parametrize("side", ["clinic", "pharmacy"])
def test_records_of_prescriptions_name_patients_that_fields_leave_out(house, side):
    ward, renewal, _ = house
    tenant, client = getattr(ward, side), ward.prescriber if side == "clinic" else ward.pharmacist
    path = f"/v1/prescriptions/{renewal['prescription_id']}?fields=items"
    assert [*done(client.get(path))] == ["id", "items"]
    assert reads(tenant, "rx.read")[-1].patients == [ward.patient_id]
    assert client.get("/v1/prescriptions?fields=number").json()["data"]
    assert reads(tenant, "rx.list")[-1].patients == [ward.patient_id]


def test_list_costs_the_same_for_one_and_for_more(house):
    ward, _, _ = house
    counts = []
    for limit in (1, 50):
        listed(ward.prescriber, f"?limit={limit}")
        with recording() as made:
            listed(ward.prescriber, f"?limit={limit}")
        counts.append(len(made))
    assert counts[0] == counts[1]
