"""GET /v1/medications and /v1/medications/{system}/{code}: search, filters, sorts, and the tenant's rows over the platform's."""

import pytest

from bench.statements import recording
from organizations.models import Tenant
from tests.factories import Api, api_key, as_member, provision
from tests.prescriptions.medications.files import RXNORM, load_rows, medication

OXYCODONE = {
    "system": RXNORM,
    "system_name": "rxnorm",
    "code": "1049221",
    "display": "Acetaminophen 325 MG / oxyCODONE Hydrochloride 5 MG Oral Tablet",
    "ingredients": [
        {"code": "acetaminophen", "display": "Acetaminophen"},
        {"code": "oxycodone", "display": "Oxycodone"},
    ],
    "classes": ["analgesics", "opioids"],
    "form": "oral tablet",
    "strength": "325/5",
    "unit": "mg",
    "schedule": "II",
    "source": "platform",
    "version": 1,
    "demonstration": True,
}


def codes(api: Api, query: str = "") -> list[str]:
    """Return the codes of a list's first page."""
    answer = api.get(f"/v1/medications?{query}")
    assert answer.status_code == 200, answer.content
    return [row["code"] for row in answer.json()["data"]]


def test_one_medication_is_answered_with_its_tag(prescriber: Api) -> None:
    answer = prescriber.get("/v1/medications/rxnorm/1049221")

    assert answer.status_code == 200
    assert answer.json() == {"data": OXYCODONE}
    assert answer.headers["ETag"] == '"platform-1"'
    again = prescriber.get("/v1/medications/rxnorm/1049221", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    "path", ["rxnorm/0", "snomed/1049221", "icd/1049221", "rxnorm/%20", "RXNORM/1049221", "rxnorm/%EF%BF%BD"]
)
def test_unknown_medication_is_not_found(prescriber: Api, path: str) -> None:
    answer = prescriber.get(f"/v1/medications/{path}")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("search=oxycod+325", {"1049221", "1049639"}),
        ("search=104922", {"1049221"}),
        ("search=WARF", {"855332"}),
        ("search=xyzzy", set()),
        ("class=Penicillins", {"70618", "308192", "392151", "562251", "824184", "834060", "834101"}),
        ("class=penicillin", set()),
        ("schedule=IV,V", {"563026", "905505", "1153378", "607015"}),
        ("code=563026", {"563026"}),
        ("system=rxnorm&code=563026", {"563026"}),
        (f"system={RXNORM}&code=563026", {"563026"}),
        ("system=snomed", set()),
        ("class=opioids&search=capsule", {"1049717"}),
    ],
)
def test_list_finds_by_search_and_filters(prescriber: Api, query: str, found: set[str]) -> None:
    assert set(codes(prescriber, f"{query}&limit=200")) == found


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("schedule=VI", "validation_error"),
        ("search=---", "validation_error"),
        ("searh=warfarin", "unknown_parameter"),
        ("sort=strength", "unknown_sort"),
        ("fields=id", "unknown_field"),
    ],
)
def test_list_refuses_what_it_does_not_know(prescriber: Api, query: str, code: str) -> None:
    answer = prescriber.get(f"/v1/medications?{query}")

    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.mark.parametrize("sort", ["display", "-display", "code", "-code", "created_at", "-updated_at"])
def test_pages_hold_every_medication_once(hospital: Tenant, prescriber: Api, sort: str) -> None:
    load_rows(
        hospital,
        "medications",
        medication(display="Warfarin of the house"),
        medication(code="H-1", system="https://hospital.example/drugs"),
    )
    whole = codes(prescriber, f"sort={sort}&limit=200")
    assert len(whole) == len(set(whole)) > 120

    pages: list[str] = []
    cursor = ""
    while True:
        body = prescriber.get(f"/v1/medications?sort={sort}&limit=50{cursor}").json()
        pages += [row["code"] for row in body["data"]]
        if not body["has_more"]:
            break
        cursor = f"&cursor={body['next_cursor']}"

    assert pages == whole


def test_row_of_the_tenant_hides_that_of_the_platform(hospital: Tenant, prescriber: Api) -> None:
    load_rows(
        hospital, "medications", medication(display="Coumadin of the house", schedule="V", classes="blood thinners")
    )
    stranger = as_member(provision("provider"), ["prescriber"])

    mine = prescriber.get("/v1/medications/rxnorm/855332")

    assert mine.json()["data"] | {"ingredients": []} == {
        "system": RXNORM, "system_name": "rxnorm", "code": "855332", "display": "Coumadin of the house", "ingredients": [],
        "classes": ["blood thinners"], "form": "oral tablet", "strength": "5", "unit": "mg", "schedule": "V",
        "source": "tenant", "version": 1, "demonstration": False,
    }  # fmt: skip
    assert mine.headers["ETag"] == '"tenant-1"'
    assert codes(prescriber, "search=coumadin") == ["855332"]
    assert codes(prescriber, "search=warfarin") == []  # its row has another display now
    assert codes(prescriber, "class=blood+thinners") == ["855332"]
    assert codes(prescriber, "class=anticoagulants") == []
    assert codes(stranger, "search=coumadin") == []
    assert stranger.get("/v1/medications/rxnorm/855332").json()["data"]["source"] == "platform"

    load_rows(hospital, "medications")
    assert prescriber.get("/v1/medications/rxnorm/855332").json()["data"]["source"] == "platform"
    assert codes(prescriber, "search=coumadin") == []


@pytest.mark.parametrize("path", ["", "/rxnorm/1049221", "/icd/1"])
def test_reading_needs_scope_feature_and_a_person(hospital: Tenant, path: str) -> None:
    other = provision("provider")
    Tenant.objects.filter(pk=other.id).update(features=["fhir"])
    for api, code in (
        (as_member(hospital, ["supplier_user"]), "insufficient_scope"),
        (as_member(other, ["prescriber"]), "feature_not_enabled"),
        (Api(key=api_key(provision("supplier"))), "credential_not_accepted"),
    ):
        answer = api.get(f"/v1/medications{path}")
        assert (answer.status_code, answer.json()["code"]) == (403, code)


@pytest.mark.parametrize("path", ["", "?search=war+oral&sort=-updated_at", "?class=opioids", "/rxnorm/855332"])
def test_read_is_one_trip(prescriber: Api, path: str) -> None:
    prescriber.get("/v1/medications")
    with recording() as record:
        assert prescriber.get(f"/v1/medications{path}").status_code == 200
    assert len(record) == 1, record.texts()


@pytest.mark.parametrize("path", ["/rxnorm/%00", "/%00/1", "?code=%00", "?class=%00", "?system=%00"])
def test_nul_is_refused_and_no_error_of_the_server(prescriber: Api, path: str) -> None:
    assert prescriber.get(f"/v1/medications{path}").status_code in (400, 404)
