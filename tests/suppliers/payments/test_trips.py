"""What a payment costs: trips to PostgreSQL, whatever the number of invoices, and of a list, whatever the number of payments."""

from bench.statements import recording
from core.ids import uuid7
from tests.suppliers.payments.tills import PATH, Till


def test_trips_do_not_grow_with_the_invoices(till: Till) -> None:
    counts = []
    for many in (1, 1, 20):  # the first one warms what is read once
        keys, sources = [till.invoice("10") for _ in range(many)], [till.invoice("10") for _ in range(many)]
        for one in sources:
            till.paid((one, "10"))
            till.credit(one, "5")
        parts = [(key, "5") for key in keys]
        with recording() as made:
            answer = till.payer.post(PATH, json=till.body(*parts), headers={"Idempotency-Key": str(uuid7())})
        key = answer.json()["data"]["id"]
        with recording() as sent:
            assert till.confirm(key, "processing").status_code == 200
        with recording() as paid:
            assert till.confirm(key, "succeeded").status_code == 200
        with recording() as taken_back:
            assert till.confirm(key, "reversed").status_code == 200
        with recording() as offset:
            till.pay(*parts, sources=[(one, "5") for one in sources])
        with recording() as read:
            assert till.payer.get(f"{PATH}/{key}").status_code == 200
        counts.append([len(one) for one in (made, sent, paid, taken_back, offset, read)])

    assert counts[1] == counts[2]
    assert max(counts[2]) <= 6, (counts, made.texts())  # four and, as statements of their own, begin and end


def test_trips_of_a_list_do_not_grow_with_the_payments(till: Till) -> None:
    counts = []
    for more in (1, 1, 2):
        for _ in range(more):
            till.pay((till.invoice("10"), "10"))
        with recording() as listed:
            assert till.payer.get(PATH).status_code == 200
        with recording() as received:
            assert till.shelf.api.get(PATH).status_code == 200
        counts.append((len(listed), len(received), listed.statements, received.statements))
    assert counts[1] == counts[2]
    assert counts[2][0] <= 3, counts
