"""Returns that meet each other, and their actions; and how many trips they take."""

from typing import Any

from bench.statements import recording
from tests.factories import Api
from tests.races import race
from tests.suppliers.returns.backs import PATH, Back


def client(api: Api) -> Api:
    """A further client of the same member, for a thread of its own."""
    made = Api()
    made.headers = api.headers
    return made


def posting(api: Api, path: str, body: dict[str, Any]) -> Any:
    """Return a work that posts by a client of its own."""
    own = client(api)
    return lambda: own.post(path, json=body).status_code


def test_two_returns_of_one_line_never_return_more_than_was_received(back: Back) -> None:
    body = back.body(60)
    assert sorted(race(*(posting(back.api, PATH, body) for _ in range(4)))) == [201, 409, 409, 409]
    assert back.counted() == (60, 0)


def test_a_shipment_against_the_withdrawal(back: Back) -> None:
    for _ in range(4):
        one = back.brought("authorized", 10)
        before = back.kept()[0]
        paths = [f"{PATH}/{one['id']}/{action}" for action in ("ship", "cancel", "ship", "cancel")]
        assert sorted(race(*(posting(back.api, path, {}) for path in paths))) == [200, 409, 409, 409]
        status = back.stored(one["id"])[0].status
        assert status in ("in_transit", "cancelled")
        assert back.kept()[0] == before - (10 if status == "in_transit" else 0)


def test_an_authorization_against_the_withdrawal(back: Back) -> None:
    for _ in range(4):
        one = back.request(10)
        path = f"{PATH}/{one['id']}"
        got = race(posting(back.supplier, f"{path}/authorize", {}), posting(back.api, f"{path}/cancel", {}))
        assert back.stored(one["id"])[0].status == "cancelled"  # it can be withdrawn behind an authorization
        assert got[1] == 200


def test_two_inspections_move_stock_once(back: Back) -> None:
    one = back.brought("received")
    body = {"lines": [back.disposed(one, "destroy")]}
    path = f"{PATH}/{one['id']}/inspect"
    assert sorted(race(*(posting(back.supplier, path, body) for _ in range(3)))) == [200, 400, 400]
    assert back.kept() == (90, 0)
    assert back.counted() == (10, 10)


def test_one_key_requests_one_return(back: Back) -> None:
    body = back.body(10)
    answers = [back.api.post(PATH, json=body, headers={"Idempotency-Key": "return-1"}) for _ in range(2)]
    assert [one.status_code for one in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert back.counted() == (10, 0)


def test_trips_do_not_grow_with_lines(back: Back) -> None:
    counts: dict[int, list[int]] = {}
    for lines in (1, 3):
        dock = back.dock
        delivery = dock.ship(dock.order(), *({"units": 30, "lot": "L1"} for _ in range(lines)))
        dock.receive(delivery, *({"line": number, "accepted_quantity": 30} for number in range(lines)))
        body = back.body(10, delivery=delivery)
        body["lines"] = [back.body(10, delivery=delivery, line=number)["lines"][0] for number in range(lines)]
        with recording() as requested:
            one = back.api.post(PATH, json=body).json()["data"]
        trips = [len(requested.trips)]
        entries = [line | {} for line in one["lines"]]
        for action, given in (
            ("authorize", {}),
            ("ship", {}),
            ("receive", {"location_id": str(back.apart)}),
            ("inspect", {"lines": [{"return_line_id": line["id"], "disposition": "destroy"} for line in entries]}),
        ):
            with recording() as made:
                back.done(one["id"], action, **given)
            trips.append(len(made.trips))
        counts[lines] = trips
    assert counts[1] == counts[3]
