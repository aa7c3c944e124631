"""Nothing of a patient is told where it does not belong: planted words in every text, all endpoints, everything else searched.

Source: contract, prescriptions.md, "Events": what a tenant is told is thin. The figures that the pharmacy's own tenant keeps
of what it handed over (place, product, lot, quantity) are no words about a patient.
"""

import json
import time
import urllib.request
from collections.abc import Iterator

import pytest
from psycopg import sql

from bench.receiver import Receiver
from tests.contract import document
from tests.faults.care import Care, walk

FAMILIES = ("/v1/prescriptions", "/v1/appointments", "/v1/medications")
# Tables that hold what is told and recorded: none of them may hold a word that a caller wrote.
TOLD = (
    "ledger_event", "ledger_pending", "webhooks_event", "webhooks_eventbody", "webhooks_newevent", "webhooks_delivery",
    "webhooks_attempt", "fhir_api_accessrecord",
)  # fmt: skip


@pytest.fixture(scope="module")
def told(service) -> tuple[Care, Receiver]:
    care = Care(service.demo)
    with Receiver() as receiver:
        walk(care, receiver)
        until = time.monotonic() + 60
        while time.monotonic() < until and len({found.event()["type"] for found in receiver.received}) < 25:
            time.sleep(0.2)
    return care, receiver


def holders(service, care: Care) -> Iterator[str]:
    """Name everything that holds a planted word."""
    words = [word.encode() for word in care.words] + [care.mark.encode()]
    for path in sorted((service.data / "log").iterdir()):
        content = path.read_bytes()
        yield from (f"log {path.name}: {word.decode()}" for word in words if word in content)
    metrics = urllib.request.urlopen(f"http://127.0.0.1:{service.variables['METRICS_PORT']}/metrics", timeout=10).read()
    assert b"# TYPE" in metrics
    yield from (f"metrics: {word.decode()}" for word in words if word in metrics)
    with service.connect() as connection:
        for table in tables(connection):
            statement = sql.SQL("SELECT count(*), string_agg(row::text, ' ') FROM {} row").format(sql.Identifier(table))
            rows, text = connection.execute(statement).fetchone()
            yield from (f"{table}: {word.decode()}" for word in words if rows and word.decode() in text)


def tables(connection) -> list[str]:
    names = {name for (name,) in connection.execute("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p')")}
    return [name for name in names if name.replace("_", "") in {told.replace("_", "") for told in TOLD}]


def test_every_endpoint_was_walked(service, told):
    care, _ = told
    walked = {(method, path) for method, path in care.asked}
    wanted = {
        (described.method.upper(), described.path)
        for described in document.operations()
        if described.path.startswith(FAMILIES)
    }
    assert {one for one in wanted if not any(_is(one, asked) for asked in walked)} == set()


def _is(operation: tuple[str, str], asked: tuple[str, str]) -> bool:
    wanted, given = operation[1].split("/"), asked[1].split("?")[0].split("/")
    same = len(wanted) == len(given) and all(
        part.startswith("{") or part == one for part, one in zip(wanted, given, strict=True)
    )
    return operation[0] == asked[0] and same


def test_words_are_answered_to_those_who_may_read_them(told):
    care, _ = told
    answers = " ".join(care.answers)
    assert sum(word in answers for word in care.words) > len(care.words) * 0.9


def test_no_log_event_metric_or_record_holds_a_word(service, told):
    care, _ = told
    assert sorted(holders(service, care)) == []


def test_no_webhook_holds_a_word(told):
    care, receiver = told
    assert len({found.event()["type"] for found in receiver.received}) >= 25
    assert all(found.verified_by(receiver.secrets) for found in receiver.received)
    for found in receiver.received:
        text = found.body.decode() + json.dumps(dict(found.headers)) + found.path
        assert not [word for word in care.words if word in text], found.event()["type"]


def test_search_finds_a_word_that_was_logged(service, told):
    """Proof of power: a word in a path that is logged is found."""
    care, _ = told
    with (service.data / "log" / "web.log").open("a") as log:
        log.write(f"{care.mark}family\n")
    assert "log web.log: " + f"{care.mark}family" in set(holders(service, care))
