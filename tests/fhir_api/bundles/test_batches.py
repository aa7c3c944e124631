"""Batches over HTTP: each entry for itself. Point 40 of the contract."""

from bench.statements import recording
from tests.fhir_api.bundles.making import batch, entry, history, located, responses, statuses, urn
from tests.fhir_api.clients import identified, observation, patient, prescriber


def test_batch_answers_200_with_an_outcome_for_each_entry():
    api = prescriber()
    known = api.made(patient())
    answer = api.post(
        "",
        batch(
            entry("POST", "Patient", patient()),
            entry("POST", "Patient", patient(gender="mann")),
            entry("POST", "Slot", {"resourceType": "Slot"}),
            entry("PUT", f"Patient/{known['id']}", {**known, "active": True}, ifMatch='W/"7"'),
            entry("GET", f"Patient/{known['id']}"),
            entry("GET", "Patient/never"),
            entry("GET", "Patient/a_b"),
            entry("DELETE", "Patient/never"),
            "nothing",
            entry("POST", "Patient", patient()),
        ),
    )
    assert statuses(answer) == [201, 422, 422, 412, 200, 404, 400, 204, 400, 201]
    assert answer.json()["type"] == "batch-response"
    failed = responses(answer)[1]["outcome"]
    assert (failed["resourceType"], failed["issue"][0]["severity"]) == ("OperationOutcome", "error")
    assert responses(answer)[4]["lastModified"] == known["meta"]["lastUpdated"]
    assert len(history(api)) == 3


def test_one_bad_entry_among_many_takes_nothing_along():
    api = prescriber()
    sent = [entry("POST", "Patient", patient()) for _ in range(150)]
    for number in (0, 77, 149):
        sent[number] = entry("POST", "Patient", patient(gender="mann"))
    expected = [422 if number in (0, 77, 149) else 201 for number in range(150)]
    assert statuses(api.post("", batch(*sent))) == expected
    assert len(history(api)) == 147


def test_all_bad_entries_are_told_at_once():
    """Trips of the good alone, of all, and of the good again: not of ever smaller halves."""
    api = prescriber()
    known = api.made(patient())
    sent = []
    for number in range(40):
        sent += [
            entry("POST", "Observation", observation(f"Patient/{known['id']}")),
            entry("POST", "Observation", observation("Patient/nobody" if number % 2 else f"Patient/nobody-{number}")),
        ]
    with recording() as record:
        answer = api.post("", batch(*sent))
    assert statuses(answer) == [201, 422] * 40
    issues = [one["outcome"]["issue"] for one in responses(answer)[1::2]]
    assert [[issue["expression"] for issue in one] for one in issues] == [
        [[f"Bundle.entry[{number}].resource.subject.reference"]] for number in range(1, 80, 2)
    ]
    assert len(record) <= 12, record.texts()
    assert len(history(api)) == 41


def test_entry_that_another_one_harms_is_carried_out():
    """Together the first would refer to what the second deletes; one after the other the second is refused."""
    api = prescriber()
    known = api.made(patient())
    answer = api.post(
        "",
        batch(
            entry("POST", "Observation", observation(f"Patient/{known['id']}")),
            entry("DELETE", f"Patient/{known['id']}"),
        ),
    )
    assert statuses(answer) == [201, 409]


def test_condition_of_another_type_is_refused_alone():
    api = prescriber()
    sent = entry("POST", "Patient", patient(), ifNoneExist="Observation?code=1")
    assert statuses(api.post("", batch(sent, entry("POST", "Patient", patient())))) == [400, 201]


def test_entries_on_one_resource_follow_one_another():
    api = prescriber()
    sent = [entry("PUT", "Patient/a", patient(id="a", active=bool(n % 2))) for n in range(4)]
    answer = api.post(
        "", batch(*sent, entry("GET", "Patient/a"), entry("DELETE", "Patient/a"), entry("GET", "Patient/a"))
    )
    assert statuses(answer) == [201, 200, 200, 200, 200, 204, 410]
    assert "lastModified" not in responses(answer)[6]  # the header of a refusal holds whole seconds
    assert answer.json()["entry"][4]["resource"]["meta"]["versionId"] == "4"


def test_equal_conditional_updates_of_one_batch_make_one_resource():
    api = prescriber()
    sent = [entry("PUT", "Patient?identifier=urn:mrn|a", identified("a", active=active)) for active in (True, False)]
    answer = api.post("", batch(*sent))
    assert statuses(answer) == [201, 200]
    assert len({located(one) for one in responses(answer)}) == 1


def test_entries_of_a_batch_do_not_refer_to_one_another():
    api, who = prescriber(), urn()
    answer = api.post(
        "", batch(entry("POST", "Patient", patient(), who), entry("POST", "Observation", observation(who)))
    )
    assert statuses(answer) == [201, 400]


def test_conditional_references_of_a_batch_are_resolved_each_for_itself():
    api = prescriber()
    known = api.made(identified("known"))
    answer = api.post(
        "",
        batch(
            *(entry("POST", "Observation", observation(f"Patient?identifier=urn:mrn|{v}")) for v in ("known", "never"))
        ),
    )
    assert statuses(answer) == [201, 412]
    stored = api.get(f"/{located(responses(answer)[0])}").json()
    assert stored["subject"] == {"reference": f"Patient/{known['id']}"}


def test_batch_of_many_entries_is_carried_out(long):
    api, count = prescriber(), 5_000 if long else 600
    sent = batch(*(entry("PUT", f"Patient/p{n}", patient(id=f"p{n}")) for n in range(count)))
    answer = api.post("", sent)
    assert statuses(answer) == [201] * count
    assert api.get(f"/Patient/p{count - 1}").status_code == 200
