"""Transactions at the same moment: real threads, each with its own connection, over the whole stack."""

from collections import Counter

from core.ids import uuid7_text
from tests.fhir_api.bundles.making import batch, entry, history, located, responses, statuses, transaction, urn
from tests.fhir_api.clients import Fhir, identified, observation, patient, prescriber
from tests.races import race

WRITERS = 16


def twin(doctor: Fhir) -> Fhir:
    """The same credential on a connection of its own."""
    found = Fhir(tenant=doctor.tenant)
    found.headers = dict(doctor.headers)
    return found


def all_at_once(doctor, sent):
    return race(*(lambda one=one: twin(doctor).post("", one) for one in sent))


def test_parallel_transactions_with_one_condition_make_exactly_one_resource():
    """Each writes an Observation of the patient whom the first of them creates."""
    doctor, value, who = prescriber(), uuid7_text(), urn()
    sent = transaction(
        entry("POST", "Patient", identified(value), who, ifNoneExist=f"identifier=urn:mrn|{value}"),
        entry("POST", "Observation", observation(who)),
    )
    answers = all_at_once(doctor, [sent] * WRITERS)
    made = [responses(answer) for answer in answers]
    assert Counter(first["status"][:3] for first, _ in made) == {"201": 1, "200": WRITERS - 1}
    assert len({located(first) for first, _ in made}) == 1
    subjects = {doctor.get(f"/{located(second)}").json()["subject"]["reference"] for _, second in made}
    assert subjects == {located(made[0][0])}
    assert len(history(doctor)) == 1 + WRITERS


def test_parallel_transactions_on_the_same_resources_in_any_order_all_end():
    doctor = prescriber()
    names = [f"race-{n}" for n in range(6)]
    sent = [
        transaction(*(entry("PUT", f"Patient/{name}", patient(id=name, multipleBirthInteger=n + 1)) for name in order))
        for n, order in enumerate([names, names[::-1]] * 4)
    ]
    answers = all_at_once(doctor, sent)
    assert {answer.status_code for answer in answers} == {200}
    assert [version for _, _, version in history(doctor)] == [len(sent)] * len(names)


def test_transactions_that_lock_each_other_out_are_begun_again():
    """Each changes one patient and refers to the other's: one of the two loses to PostgreSQL's deadlock detection."""
    doctor = prescriber()
    one, other = (doctor.made(patient())["id"] for _ in range(2))
    for number in range(3):
        sent = [
            transaction(
                entry("PUT", f"Patient/{mine}", patient(id=mine, multipleBirthInteger=number + 1)),
                entry("POST", "Observation", observation(f"Patient/{theirs}")),
            )
            for mine, theirs in ((one, other), (other, one))
        ]
        assert [answer.status_code for answer in all_at_once(doctor, sent)] == [200, 200]


def test_parallel_batches_with_one_condition_make_exactly_one_resource():
    doctor, value = prescriber(), uuid7_text()
    sent = batch(
        entry("POST", "Patient", patient(gender="mann")),
        entry("POST", "Patient", identified(value), ifNoneExist=f"identifier=urn:mrn|{value}"),
    )
    answers = [statuses(answer) for answer in all_at_once(doctor, [sent] * 8)]
    assert Counter(made for _, made in answers) == {201: 1, 200: 7}
    assert len(history(doctor)) == 1
