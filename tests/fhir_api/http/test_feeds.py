"""Who asks for what changed since the newest version he has seen misses nothing, however slow a writer is."""

import threading
import time

import pytest
from django.db import connection

from core.actor import system_actor
from core.db import tenant_context
from fhir_api import store
from fhir_api.bundles.imports import Import, Item
from tests.fhir_api.clients import Fhir, patient, prescriber
from tests.races import race

LONGEST_WAIT = 4.0  # the writer gives up after 4.5 s


def writes_open(doctor) -> int:
    """How many writes of the tenant are open, by their marks."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
            " AND ((classid::bigint << 32) | objid::bigint) >> 40 = %s",
            [doctor.tenant.id.int & 0x7FFFFF],
        )
        return cursor.fetchone()[0]


class SlowWriter:
    """An update that has begun and waits for the row of its resource as long as the `with` lasts."""

    def __init__(self, doctor: Fhir, *, imports: bool = False) -> None:
        self.doctor = doctor
        self.imports = imports
        self.made = doctor.made(patient())
        self.status = 0

    def _write(self) -> None:
        changed = {**self.made, "active": False}
        if self.imports:
            work = Import(system_actor(self.doctor.tenant.id))
            list(work.take(iter([Item("a line", changed)])))
            self.status = 200 if work.tally.written else 500
        else:
            self.status = twin(self.doctor).put(f"/Patient/{self.made['id']}", changed).status_code
        connection.close()

    def __enter__(self) -> "SlowWriter":
        self._thread = threading.Thread(target=self._write)
        self._holding = tenant_context(self.doctor.tenant.id)
        self._holding.__enter__()
        store.locked(self.doctor.tenant.id, [("Patient", self.made["id"])])
        self._thread.start()
        until = time.monotonic() + LONGEST_WAIT
        while not writes_open(self.doctor):
            assert time.monotonic() < until
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._holding.__exit__(None, None, None)
        self._thread.join()


@pytest.fixture
def doctor():
    return prescriber()


def twin(doctor):
    found = Fhir(tenant=doctor.tenant)
    found.headers = dict(doctor.headers)
    return found


def elsewhere(work):
    """Do something on a connection of its own, and return what it returns."""
    return race(work)[0]


def ids(answer):
    assert answer.status_code == 200, answer.content
    return [entry["resource"]["id"] for entry in answer.json().get("entry", [])]


FEEDS = (
    "/Patient/_history?_since={}",
    "/_history?_since={}",
    "/Patient?_lastUpdated=ge{}",
    "/Patient?_lastUpdated=gt{}",
)


@pytest.mark.parametrize("imports", [False, True])
@pytest.mark.parametrize("feed", FEEDS)
def test_feed_ends_at_the_oldest_write_that_is_open(doctor, feed, imports):
    since = doctor.made(patient())["meta"]["lastUpdated"]
    with SlowWriter(doctor, imports=imports) as slow:
        later = elsewhere(lambda: twin(doctor).made(patient()))
        asked = feed.format(since)
        assert later["id"] not in elsewhere(lambda: ids(twin(doctor).get(asked)))
        assert later["id"] in elsewhere(lambda: ids(twin(doctor).get("/Patient/_history")))
        assert later["id"] in elsewhere(lambda: ids(twin(doctor).get("/Patient?_lastUpdated=le3000")))
    assert slow.status == 200
    assert {later["id"], slow.made["id"]} <= set(ids(doctor.get(feed.format(since))))


@pytest.mark.parametrize("feed", FEEDS)
def test_own_writes_are_in_the_feed_at_once_and_other_tenants_hold_nobody_up(doctor, feed):
    since = doctor.made(patient())["meta"]["lastUpdated"]
    with SlowWriter(prescriber()):
        made = elsewhere(lambda: twin(doctor).made(patient()))
        assert made["id"] in elsewhere(lambda: ids(twin(doctor).get(feed.format(since))))


def bundle(number):
    """A transaction that takes as long as many single writes."""
    named = [{**patient(), "id": f"slow-{number}-{n}"} for n in range(60)]
    entries = [{"resource": one, "request": {"method": "PUT", "url": f"Patient/{one['id']}"}} for one in named]
    return {"resourceType": "Bundle", "type": "transaction", "entry": entries}


def test_who_goes_on_from_the_newest_he_has_seen_sees_all(doctor):
    since, wrote, seen, is_over = doctor.made(patient())["meta"]["lastUpdated"], set(), set(), threading.Event()

    def large():
        for number in range(6):
            sent = bundle(number)
            assert twin(doctor).post("", sent).status_code == 200
            wrote.update(entry["resource"]["id"] for entry in sent["entry"])
        is_over.set()

    def small():
        while not is_over.is_set():
            wrote.add(twin(doctor).made(patient())["id"])

    def follow(since):
        address, newest = f"/Patient/_history?_since={since}&_count=200", since
        while address:
            page = twin(doctor).get(address).json()
            seen.update(entry["resource"]["id"] for entry in page.get("entry", []))
            newest = max([newest, *(entry["resource"]["meta"]["lastUpdated"] for entry in page.get("entry", []))])
            links = {link["relation"]: link["url"].partition("/fhir/R4")[2] for link in page["link"]}
            address = links.get("next")
        return newest

    def following():
        newest = since
        while not is_over.is_set():
            newest = follow(newest)
        return newest

    *rest, newest = race(large, small, small, following)
    assert rest == [None] * 3
    for _ in range(3):
        newest = follow(newest)
    assert wrote <= seen
