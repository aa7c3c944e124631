"""Pages while others write, and the number of round trips."""

from typing import Any

import pytest

from core.cursors import InvalidCursor
from fhir_api.search.refusals import UnknownSearchParameter
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

Json = dict[str, Any]


def observation(fhir_id: str, day: int, **more: Any) -> Json:
    code = {"coding": [{"code": "c"}]}
    found = {"resourceType": "Observation", "id": fhir_id, "status": "final", "code": code}
    return {**found, "effectiveDateTime": f"2024-01-{day:02}", "valueQuantity": {"value": day % 4}, **more}


@pytest.fixture
def tenant() -> Tenant:
    made = factories.provision()
    record.put(made.id, [observation(f"o{n:02}", n) for n in range(1, 21)])
    return made


ORDERS = [
    "",
    "_sort=date",
    "_sort=-date",
    "_sort=value-quantity,-date",
    "_sort=-_lastUpdated",
    "_sort=-_id",
    "_sort=status",
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("condition", ["code=c", "status=final&code=c,d", "date=ge2023", "subject:missing=true"])
def test_pages_hold_what_was_there_at_first_while_others_write_37(tenant: Tenant, order: str, condition: str) -> None:
    first = record.asked(tenant.id, "Observation", f"{condition}&{order}&_count=6")
    seen = record.names(first)
    # Behind and before the place where the first page ended: new ones, one that is gone, one that is another now.
    record.put(tenant.id, [observation("new-early", 1), observation("new-late", 28)])
    unseen = sorted({f"Observation/o{n:02}" for n in range(1, 21)} - set(seen))
    record.change(tenant.id, None, ("Observation", unseen[3].partition("/")[2]))
    record.change(tenant.id, None, ("Observation", seen[-1].partition("/")[2]))
    query = record.next_query(first)
    while query:
        page = record.asked(tenant.id, "Observation", query)
        assert len(record.names(page)) <= 6
        seen += record.names(page)
        query = record.next_query(page)

    assert len(seen) == len(set(seen)), "no resource comes twice"
    assert sorted(seen) == sorted({f"Observation/o{n:02}" for n in range(1, 21)} - {unseen[3]}), "and none is left out"


@pytest.mark.parametrize("order", [one for one in ORDERS if one != "_sort=-_lastUpdated"])
def test_pages_leave_out_what_was_created_and_changed_after_the_first_37(tenant: Tenant, order: str) -> None:
    first = record.asked(tenant.id, "Observation", f"code=c&{order}&_count=6")
    seen = record.names(first)
    unseen = sorted({f"Observation/o{n:02}" for n in range(1, 21)} - set(seen))
    record.put(tenant.id, [observation("new-early", 1), observation("new-late", 28)])
    for fhir_id, day in (("new-early", 1), ("new-late", 28), (unseen[3].partition("/")[2], int(unseen[3][-2:]))):
        record.change(tenant.id, observation(fhir_id, day, language="de"), ("Observation", fhir_id))

    later = record.all_of(tenant.id, "Observation", record.next_query(first))

    assert sorted(later) == unseen, "what was there is shown, changed or not, and nothing else"


def test_order_by_clinical_date_has_the_undated_last_both_ways_37(tenant: Tenant) -> None:
    undated = [observation(f"u{n}", 1) for n in range(3)]
    for one in undated:
        del one["effectiveDateTime"]
    record.put(tenant.id, undated)

    for order, expected in (("date", 1), ("-date", 20)):
        pages = record.pages(tenant.id, "Observation", f"_sort={order}&_count=7")
        found = [name for page in pages for name in page]
        assert [len(page) for page in pages] == [7, 7, 7, 2]
        assert found[0] == f"Observation/o{expected:02}"
        assert sorted(found[20:]) == [f"Observation/u{n}" for n in range(3)]
        assert sorted(found) == sorted([f"Observation/o{n:02}" for n in range(1, 21)] + found[20:])


@pytest.mark.parametrize("order", ["date,colour", "colour,date", "status,-date,colour"])
def test_order_with_an_unknown_key_is_none_on_every_page_27_37(tenant: Tenant, order: str) -> None:
    first = record.asked(tenant.id, "Observation", f"_sort={order}&_count=6")

    assert [link["url"].partition("?")[2] for link in first["link"] if link["relation"] == "self"] == ["_count=6"]
    assert "colour" in first["entry"][-1]["resource"]["issue"][0]["diagnostics"]
    with pytest.raises(UnknownSearchParameter, match="colour"):
        record.asked(tenant.id, "Observation", f"_sort={order}", strict=True)
    unsorted = record.all_of(tenant.id, "Observation", "_count=6")
    assert record.all_of(tenant.id, "Observation", f"_sort={order}&_count=6") == unsorted
    assert len(unsorted) == 20


def test_page_by_clinical_date_is_one_trip_where_the_undated_cannot_be_missed(tenant: Tenant) -> None:
    undated = [observation(f"u{n}", 1) for n in range(3)]
    for one in undated:
        del one["effectiveDateTime"]

    def trips(query: str) -> list[int]:
        seen: list[int] = []
        record.asked(tenant.id, "Observation", query, trips=seen)
        return seen

    assert trips("_sort=-date&_count=7") == [1]
    record.put(tenant.id, undated)
    assert trips("_sort=-date&_count=7") == [1, 1], "they are the newest by their creation"
    for order in ("date", "-date"):
        assert trips(f"_sort={order}&_count=50") == [1], "there are no more"
        whole = record.names(record.asked(tenant.id, "Observation", f"_sort={order}&_count=50"))
        assert whole == record.all_of(tenant.id, "Observation", f"_sort={order}&_count=7")


def test_cursor_of_another_tenant_type_or_hand_is_refused(tenant: Tenant) -> None:
    query = record.next_query(record.asked(tenant.id, "Observation", "code=c&_count=5"))
    other = factories.provision()

    for stranger, type_name, text in (
        (other.id, "Observation", query),
        (tenant.id, "Patient", query),
        (tenant.id, "", query),
        (tenant.id, "Observation", query[:-3] + "abc"),
        (tenant.id, "Observation", "_cursor=x"),
    ):
        with pytest.raises(InvalidCursor):
            record.asked(stranger, type_name, text)
    assert len(record.names(record.asked(tenant.id, "Observation", query))) == 5


@pytest.mark.parametrize(
    ("query", "trips"),
    [
        ("code=c", [1]),
        ("code=c&_total=accurate", [2]),
        ("_count=0&code=c", [1]),
        ("subject=Patient/1&code=c&date=ge2020", [1]),
        ("code=c&status=final", [1, 1]),
        ("code=c&patient.family=x", [1]),
        ("_id=o01&code=c&status=final", [1]),
        ("code=c&_sort=-date,status", [1]),
        ("patient.family=x&patient.gender=male", [1]),
        ("code=c&_include=Observation:subject", [1]),
        ("code=c&_revinclude=Observation:has-member", [1, 1]),
    ],
)
def test_round_trips_of_a_search(tenant: Tenant, query: str, trips: list[int]) -> None:
    """The statements of each trip; where several conditions may be rare, one trip counts them."""
    seen: list[int] = []
    record.asked(tenant.id, "Observation", query, trips=seen)

    assert seen == trips


def test_trips_of_inclusions_do_not_grow_with_the_page(tenant: Tenant) -> None:
    people = [{"resourceType": "Patient", "id": f"p{n}"} for n in range(12)]
    referring = [observation(f"r{n}", 3, subject={"reference": f"Patient/p{n}"}) for n in range(12)]
    record.put(tenant.id, [*people, *referring])

    for count in (1, 12):
        seen: list[int] = []
        bundle = record.asked(
            tenant.id, "Observation", f"subject:missing=false&_include=Observation:subject&_count={count}", trips=seen
        )
        assert len(record.names(bundle, "include")) == count
        assert seen == [1, 1]


def test_total_counts_as_it_is_asked(tenant: Tenant) -> None:
    assert "total" not in record.asked(tenant.id, "Observation", "code=c&_count=2")
    assert "total" not in record.asked(tenant.id, "Observation", "code=c&_count=2&_total=none")
    for way in ("accurate", "estimate"):
        assert record.asked(tenant.id, "Observation", f"code=c&_count=2&_total={way}")["total"] == 20
        assert record.asked(tenant.id, "Observation", f"code=c,d&_count=2&_total={way}")["total"] == 20
