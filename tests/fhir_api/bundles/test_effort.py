"""What a Bundle and a search cost: units of the rate limit, and the time of one request."""

from contextlib import contextmanager

import pytest

from core import budgets
from core.budgets import Budget
from tests.fhir_api.bundles.making import batch, entry, history, refused, responses, statuses, transaction
from tests.fhir_api.clients import patient, prescriber


@contextmanager
def seconds(amount):
    """Answer the requests of the block within one budget."""
    budget = Budget(amount)
    budgets.begin(budget)
    try:
        yield budget
    finally:
        budgets.end()


def remaining(answer):
    return int(answer.headers["RateLimit-Remaining"])


@pytest.mark.parametrize(("entries", "units"), [(1, 1), (100, 1), (101, 2), (250, 3)])
def test_bundle_spends_a_unit_for_each_hundred_entries_begun(entries, units):
    api = prescriber()
    known = api.made(patient())
    before = remaining(api.get(f"/Patient/{known['id']}"))
    answer = api.post("", batch(*[entry("GET", f"Patient/{known['id']}")] * entries))
    assert set(statuses(answer)) == {200}
    assert before - remaining(answer) == units
    assert remaining(answer) - remaining(api.get(f"/Patient/{known['id']}")) == 1


@pytest.mark.parametrize(("alternatives", "units"), [(1, 1), (50, 1), (51, 2), (120, 3)])
def test_search_spends_a_unit_for_each_fifty_alternatives_begun(alternatives, units):
    api = prescriber()
    before = remaining(api.get("/Patient?gender=male"))
    answer = api.get("/Patient?family=" + ",".join(f"q{number}" for number in range(alternatives)))
    assert answer.status_code == 200
    assert before - remaining(answer) == units


def test_search_inside_a_bundle_spends_what_it_asks_for_beyond_one_unit():
    api = prescriber()
    before = remaining(api.get("/Patient?gender=male"))
    many = "Patient?family=" + ",".join(f"q{number}" for number in range(120))
    answer = api.post("", batch(entry("GET", many)))
    assert statuses(answer) == [200]
    assert before - remaining(api.get("/Patient?gender=male")) == 1 + 2 + 1


def test_alternatives_of_contains_are_bounded():
    api = prescriber()
    names = [f"q{number}" for number in range(51)]
    assert refused(api.get("/Patient?name:contains=" + ",".join(names)))[:2] == (400, "invalid_search")
    assert api.get("/Patient?name:contains=" + ",".join(names[:50])).status_code == 200


def test_batch_keeps_what_is_done_and_answers_the_rest():
    sent = [entry("POST", "Patient", patient()) for _ in range(3_000)]
    for limit in (
        0.6,
        1.0,
        1.4,
        2.0,
        2.8,
        4.0,
        8.0,
    ):  # a busy machine does nothing in the first, a fast one all in the last
        api = prescriber()
        with seconds(limit):
            answer = api.post("", batch(*sent))
        if set(found := statuses(answer)) == {201, 503}:
            break
    assert set(found) == {201, 503}
    assert found == sorted(found)
    assert len(history(api)) == found.count(201)
    issue = responses(answer)[-1]["outcome"]["issue"][0]
    assert (issue["code"], issue["details"]["coding"][0]["code"]) == ("too-costly", "too_costly")


def test_transaction_leaves_nothing():
    api = prescriber()
    sent = [entry("POST", "Patient", patient()) for _ in range(3_000)]
    with seconds(0.5):
        answer = api.post("", transaction(*sent))
    assert refused(answer)[:2] == (503, "too_costly")
    assert answer.headers["Retry-After"] == "5"
    assert history(api) == []


@pytest.mark.parametrize(("sent", "waits"), [("reads", True), ("reads behind a write", False)])
def test_batch_waits_for_other_requests_of_its_tenant_until_it_writes(sent, waits):
    """From then on it holds rows that they wait for."""
    api = prescriber()
    known = api.made(patient())
    read = entry("GET", f"Patient/{known['id']}")
    sent = [read, read] if sent == "reads" else [entry("POST", "Patient", patient()), read, read]
    asked = []

    def way(seconds, must_end, may_wait):
        asked.append(may_wait)
        return 0.0, 0.0

    with seconds(30) as budget:
        budget.way, budget.patient_seconds = way, 0.0
        answer = api.post("", batch(*sent))
    assert {200} <= set(statuses(answer)) <= {200, 201}
    done = asked[1 + 2 * len(sent) :]  # behind the look-up of its key, and two looks at each entry
    assert (True in done) is waits
