"""Searches over HTTP: forms of requests, links, headers."""

import pytest
from django.db import OperationalError, transaction

from api.errors import refusal_of, status_of
from core import pipeline
from core.pipeline import Call, Statement
from fhir_api.http.refusals import issues_of
from tests import factories
from tests.fhir_api.clients import BASE, Fhir, code_of, patient, prescriber, reader
from tests.fhir_api.search import record

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def client() -> Fhir:
    made = prescriber()
    for n in range(5):
        made.made(patient(birthDate=f"197{n}-01-01"))
    return made


def links(answer) -> dict[str, str]:
    return {link["relation"]: link["url"] for link in answer.json()["link"]}


def births(answer) -> list[str]:
    return [one["resource"]["birthDate"] for one in answer.json().get("entry", []) if one["search"]["mode"] == "match"]


def follow(client: Fhir, answer) -> list[list[str]]:
    """The pages from this one on."""
    pages = [births(answer)]
    while "next" in links(answer):
        answer = client.get(links(answer)["next"].partition(BASE)[2])
        assert answer.status_code == 200, answer.content
        pages.append(births(answer))
    return pages


def test_search_answers_a_searchset_with_absolute_self_link_26(client: Fhir) -> None:
    answer = client.get("/Patient?family=MUSTER&birthdate=1972")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/fhir+json; charset=utf-8"
    found = answer.json()
    assert (found["resourceType"], found["type"]) == ("Bundle", "searchset")
    assert "total" not in found
    assert links(answer) == {"self": "http://testserver/fhir/R4/Patient?family=MUSTER&birthdate=1972"}
    (entry,) = found["entry"]
    assert entry["fullUrl"] == f"http://testserver/fhir/R4/Patient/{entry['resource']['id']}"
    assert entry["search"] == {"mode": "match"}
    assert entry["resource"] == client.get(f"/Patient/{entry['resource']['id']}").json()


def test_post_search_joins_body_and_address_26(client: Fhir) -> None:
    answer = client.post("/Patient/_search?gender=female", b"birthdate=gt1972&_sort=birthdate", media=FORM)

    assert births(answer) == ["1973-01-01", "1974-01-01"]
    assert links(answer)["self"].endswith("/Patient?gender=female&birthdate=gt1972&_sort=birthdate")
    assert births(client.get("/Patient/_search?birthdate=1972")) == ["1972-01-01"]


def test_post_search_with_another_body_is_refused(client: Fhir) -> None:
    answer = client.post("/Patient/_search", {"resourceType": "Parameters"})

    assert (answer.status_code, code_of(answer)) == (415, "unsupported_media_type")


def test_unknown_parameter_is_ignored_told_and_left_out_of_the_self_link_27(client: Fhir) -> None:
    answer = client.get("/Patient?colour=red&birthdate=1972")

    assert births(answer) == ["1972-01-01"]
    assert links(answer)["self"].endswith("/Patient?birthdate=1972")
    told = answer.json()["entry"][-1]
    assert told["search"] == {"mode": "outcome"}
    assert told["resource"]["issue"][0]["severity"] == "warning"
    assert "colour" in told["resource"]["issue"][0]["diagnostics"]


def test_unknown_parameter_is_refused_where_the_client_wants_it_27(client: Fhir) -> None:
    answer = client.get("/Patient?colour=red", Prefer="handling=strict")
    assert (answer.status_code, code_of(answer)) == (400, "unknown_parameter")

    assert client.get("/Patient?_sort=colour", Prefer="handling=strict").status_code == 400
    assert client.get("/Patient?_include=Patient:colour", Prefer="handling=strict").status_code == 400
    assert client.get("/Patient?family=x", Prefer="handling=strict").status_code == 200
    assert code_of(client.get("/Patient", Prefer="handling=odd")) == "invalid_prefer"


@pytest.mark.parametrize(
    "query",
    [
        "family:below=x",
        "gender:exact=x",
        "birthdate:not=1970",
        "general-practitioner:Patient=1",
        "_count:exact=3",
        "identifier:in=http://x",
        "identifier:above=x",
        "_id:text=x",
        "organization:identifier:x.name=y",
        "organization:Practitioner.name=y",
        "_has:Observation:patient:subject:Practitioner.name=y",
        "_has:Observation:patient:focus.encounter:Practitioner.name=y",
    ],
)
def test_unsupported_modifier_is_refused_27(client: Fhir, query: str) -> None:
    for prefer in ("handling=lenient", "handling=strict"):
        answer = client.get(f"/Patient?{query}", Prefer=prefer)
        assert (answer.status_code, code_of(answer)) == (400, "unsupported_search"), query


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("gender:in=http://x", "unknown_value_set"),
        ("gender:not-in=http://x", "unknown_value_set"),
        ("gender:below=http://x|y", "unknown_code_system"),
    ],
)
def test_terminology_that_is_not_known_is_refused_27(client: Fhir, query: str, code: str) -> None:
    for prefer in ("handling=lenient", "handling=strict"):
        answer = client.get(f"/Patient?{query}", Prefer=prefer)
        assert (answer.status_code, code_of(answer)) == (400, code), query


@pytest.mark.parametrize(
    "query",
    [
        "birthdate=23 May",
        "birthdate=2023-02-30",
        "birthdate=xx2023",
        "birthdate=0000",
        "active=maybe",
        "active=|true",
        "phone=a|b",
        "identifier=a|b|c",
        "identifier=|",
        "identifier:of-type=a|b",
        "organization=a b",
        "gender:missing=perhaps",
        "_count=-1",
        "_count=many",
        "_summary=all",
        "_total=some",
        "_include=Patient",
        "_has:Observation=1",
        "name.family=x",
        "_summary=text&_include=Patient:organization",
        "family=%00",
        "family=%ff",
    ],
)
def test_wrong_value_is_refused_28(client: Fhir, query: str) -> None:
    answer = client.get(f"/Patient?{query}")

    assert (answer.status_code, code_of(answer)) == (400, "invalid_search")


def test_more_parameters_than_are_read_are_refused_and_told_28(client: Fhir) -> None:
    most = "&".join(["gender=female"] * 100)

    assert client.get(f"/Patient?{most}").status_code == 200
    for answer in (
        client.get(f"/Patient?{most}&gender=male"),
        client.post("/Patient/_search", f"{most}&gender=male".encode(), media=FORM),
        client.post(f"/Patient/_search?{most}", b"gender=male", media=FORM),
    ):
        assert (answer.status_code, code_of(answer)) == (400, "invalid_search")
        assert "at most 100 parameters" in answer.json()["issue"][0]["diagnostics"]


def test_empty_values_are_ignored_and_unknown_codes_find_nothing_28(client: Fhir) -> None:
    assert len(births(client.get("/Patient?family=&gender=,&_count="))) == 5
    assert births(client.get("/Patient?gender=unheard")) == []
    assert "entry" not in client.get("/Patient?general-practitioner=nobody").json()


@pytest.mark.parametrize(
    "name", ["gender", "family:exact", "_sort", "_elements", "_profile", "_has:Observation:patient:code"]
)
def test_list_of_nothing_but_commas_is_left_out_and_told_or_refused(client: Fhir, name: str) -> None:
    for value in (",", ",,", ", ,"):
        answer = client.get(f"/Patient?_count=9&{name}={value}")
        assert len(births(answer)) == 5
        assert links(answer)["self"].endswith("/Patient?_count=9")
        (told,) = [one for one in answer.json()["entry"] if one["search"]["mode"] == "outcome"]
        assert [(one["code"], one["severity"]) for one in told["resource"]["issue"]] == [("value", "warning")]
        refused = client.get(f"/Patient?{name}={value}", Prefer="handling=strict")
        assert (refused.status_code, code_of(refused)) == (400, "invalid_search")
    assert client.get("/Patient?_count=,").status_code == 400


def test_list_of_types_that_is_empty_is_left_out(client: Fhir) -> None:
    answer = client.get("/?_type=,&_count=3")
    assert links(answer)["self"].endswith("?_count=3")
    assert client.get("/?_type=,", Prefer="handling=strict").status_code == 400


def test_page_of_a_thousand_is_given_whole(client: Fhir) -> None:
    made = prescriber()
    rows = [{"resourceType": "Practitioner", "id": f"p{n}", "name": [{"family": f"F{n}"}]} for n in range(1_003)]
    record.put(made.tenant.id, rows)
    first = made.get("/Practitioner?_count=1000&_total=accurate")
    assert (len(first.json()["entry"]), first.json()["total"]) == (1_000, 1_003)
    rest = made.get(links(first)["next"].partition(BASE)[2]).json()
    assert len(rest["entry"]) == 3
    ids = {one["resource"]["id"] for one in [*first.json()["entry"], *rest["entry"]]}
    assert len(ids) == 1_003
    whole = made.get("/Practitioner/_history?_count=1000").json()
    assert (len(whole["entry"]), whole["total"]) == (1_000, 1_003)


def test_count_of_nought_gives_the_total_alone_36(client: Fhir) -> None:
    for query in ("_count=0", "_summary=count"):
        found = client.get(f"/Patient?{query}").json()
        assert found["total"] == 5
        assert "entry" not in found
        assert [link["relation"] for link in found["link"]] == ["self"]


@pytest.mark.parametrize("count", ["1001", "5000", "2147483647", pytest.param("9" * 5_000, id="5000 digits")])
def test_count_above_the_most_is_capped_and_told_36(client: Fhir, count: str) -> None:
    answer = client.get(f"/Patient?_count={count}")

    assert links(answer)["self"].endswith("?_count=1000")
    assert answer.json()["entry"][-1]["resource"]["issue"][0]["details"]["coding"][0]["code"] == "count_capped"
    assert answer.json()["entry"][-1]["fullUrl"].startswith("urn:uuid:")


def test_parameter_that_can_have_one_value_only_has_not_two_26_36(client: Fhir) -> None:
    for query in ("_count=5&_count=6", "_summary=true&_summary=false", "_total=none&_total=accurate"):
        answer = client.get(f"/Patient?{query}")
        assert (answer.status_code, code_of(answer)) == (400, "invalid_search")
    assert len(births(client.get("/Patient?_count=2&_count=2"))) == 2


def test_count_with_noughts_in_front_is_the_number_36(client: Fhir) -> None:
    assert len(births(client.get(f"/Patient?_count={'0' * 5_000}3"))) == 3


def test_pages_go_on_and_keep_total_and_count_37(client: Fhir) -> None:
    first = client.get("/Patient?_count=2&_total=accurate&_sort=birthdate")

    assert first.json()["total"] == 5
    second = client.get(links(first)["next"].partition(BASE)[2])
    assert second.json()["total"] == 5
    expected = [["1970-01-01", "1971-01-01"], ["1972-01-01", "1973-01-01"], ["1974-01-01"]]
    assert follow(client, first) == expected
    assert [sorted(page) for page in follow(client, client.get("/Patient?_count=2"))] == [
        sorted(page) for page in (["1974-01-01", "1973-01-01"], ["1972-01-01", "1971-01-01"], ["1970-01-01"])
    ]


def test_next_link_shows_nothing_of_the_query_and_is_bound_37(client: Fhir) -> None:
    link = links(client.get("/Patient?family=muster&_count=2"))["next"].partition(BASE)[2]

    assert "muster" not in link.lower()
    assert link.startswith("/Patient?_cursor=")
    assert "&" not in link
    assert code_of(client.get(link[:-2] + "AA")) == "invalid_cursor"
    assert code_of(client.get(link.replace("/Patient", "/Observation"))) == "invalid_cursor"
    stranger = prescriber()
    assert code_of(stranger.get(link)) == "invalid_cursor"
    assert len(births(reader(client.tenant).get(link))) == 2
    assert len(births(client.get(f"{link}&_format=json&_count=1"))) == 2
    assert code_of(client.get(f"{link}&gender=male")) == "invalid_cursor"
    assert code_of(client.get(f"{link}&_summary=count")) == "invalid_cursor"


def test_search_of_all_types_by_type_and_id(client: Fhir) -> None:
    organization = client.made({"resourceType": "Organization", "name": "Clinic"})
    everything = client.get("/?_type=Patient,Organization&_count=3&_total=accurate")

    assert everything.json()["total"] == 6
    assert everything.json()["entry"][0]["resource"]["resourceType"] == "Organization"
    seen = [one["resource"]["id"] for one in everything.json()["entry"]]
    more = client.get(links(everything)["next"].partition(BASE)[2]).json()["entry"]
    assert len({*seen, *(one["resource"]["id"] for one in more)}) == 6
    one = client.get(f"?_id={organization['id']}").json()["entry"]
    assert [entry["resource"]["id"] for entry in one] == [organization["id"]]
    assert client.post("/_search", f"_id={organization['id']}".encode(), media=FORM).json()["entry"] == one
    assert client.get("?_type=Slot").status_code == 400


def test_search_without_scope_or_of_unknown_type_is_refused(client: Fhir) -> None:
    outsider = factories.provision()
    person, _ = factories.member(outsider, ["tenant_admin"])
    nobody = Fhir(factories.bearer(person), client.tenant)

    assert nobody.get("/Patient").status_code == 403
    assert nobody.get("/Patient?birthdate=odd").status_code == 403
    assert Fhir("", client.tenant).get("/Patient").status_code == 401
    assert client.get("/patient").status_code == 404
    assert client.get("/Slot").status_code == 404


def test_search_that_takes_too_long_says_so() -> None:
    """As PostgreSQL ends a statement for its length."""
    with pytest.raises(OperationalError) as raised, transaction.atomic():
        pipeline.run([Call(Statement.of("SET LOCAL statement_timeout = 10")), Call(Statement.of("SELECT pg_sleep(2)"))])
    refusal = refusal_of(raised.value)
    (issue,) = issues_of(refusal)
    assert (refusal.code, status_of(refusal), issue.code) == ("took_too_long", 503, "too-costly")
